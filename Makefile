# bats-mpi: one Makefile, not recursive. `make help` lists the targets.

# yes if pkg-config or the compiler knows the library $(1).
have = $(shell { pkg-config --exists $(1) || \
	printf '\043include <$(1).h>\n' | $(CC) $(CPPFLAGS) -E -x c -; } \
	>/dev/null 2>&1 && echo yes || echo no)

# ---- knobs: make NAME=VALUE ----

# The C compiler, and the wrapper around it that knows MPI (Open MPI, MPICH).
CC = cc
MPICC = mpicc
# Optimisation and debugging; anything here replaces it.
CFLAGS = -O2 -g
# `make install` puts things here; DESTDIR goes in front of it.
PREFIX = /usr/local
LIBDIR = $(PREFIX)/lib
DESTDIR =
# The directory of everything that is built.
B = build
# V=1 shows every command.
V = 0
# DEVELOPER=1 turns warnings on, and into errors.
DEVELOPER = 0
# SANITIZE=address,undefined builds with these sanitizers (see `make asan`).
SANITIZE =
# Libraries that it does without where they are missing, or with NAME=no.
HWLOC := $(call have,hwloc)
PMIX := $(call have,pmix)
GNUTLS := $(if $(filter yes,$(call have,gnutls) $(call have,gnutls/gnutls)),yes,no)
# Tests that `make check` runs; a test that takes longer than this hangs, and is
# ended. (At a load of 50 some need ten minutes.)
TESTS = $(LONG_TESTS) $(SHORT_TESTS)
TEST_TIMEOUT = 1500
# So many run side by side. They wait for more than nine seconds in ten, most of
# all those that begin first: batch systems look every few seconds.
JOBS := $(shell nproc)
TEST_JOBS := $(shell echo $$((12 * $(JOBS))))
# Each fuzzer runs for so long.
FUZZ_SECONDS = 30

# The only home of the version; a test compares the packages with it.
VERSION = 1.0.0

# ---- sources, layer by layer: each may use those above it ----

UTIL_SRC = $(addprefix src/util/, complaint.c encode.c error.c expression.c grow.c heap.c hostlist.c \
	similar.c text.c units.c)
PLAN_SRC = $(addprefix src/plan/, \
	billing.c cluster.c frontier.c knapsack.c lifetime.c plan.c windows.c \
	windows_all.c)
ESTIMATE_SRC = $(addprefix src/estimate/, \
	allocation.c configurations.c estimate.c factors.c histogram.c \
	interval.c machine_windows.c plans.c prior.c regression.c sample.c stats.c)
ENGINE_SRC = $(addprefix src/engine/, \
	assign.c configure.c create.c outcome.c sched.c status.c \
	failure/rules.c order/chain.c order/fit.c outlook/forecast.c \
	outlook/jobs.c outlook/width.c policy/bats.c policy/begin.c \
	policy/deadline.c policy/swap.c \
	policy/initial.c policy/list.c policy/problem.c \
	$(addprefix policy/papers/, bkp.c dbc.c expert.c figures.c \
	flow.c miser.c place.c) \
	sampling/choice.c sampling/points.c \
	$(addprefix money/, \
	jobs.c kinds.c second.c use.c window.c) \
	$(addprefix state/, \
	answers.c bag.c executions.c graph.c ledger.c machines.c needs.c payment.c \
	purses.c runtimes.c slots.c state.c) \
	tail/replicas.c $(addprefix tail/papers/, \
	answers.c decide.c expert.c instances.c plays.c strategy.c))
INPUT_SRC = $(addprefix src/input/, \
	bagfile.c $(addprefix bag/, look.c read.c traits.c) \
	clusters_file.c dependencies.c label.c model.c platform.c profile.c \
	profile_save.c reliability.c runtimes.c sections.c \
	sharing.c textfile.c \
	$(addprefix sweep/, planfile.c points.c readers.c \
	sweep.c template.c) \
	$(addprefix workflow/, json.c load.c makeflow.c names.c workflow.c))
PROTO_SRC = $(addprefix src/proto/, proto.c)
EXEC_SRC = $(addprefix src/exec/process/, \
	cgroup.c environment.c family.c pace.c runner.c) \
	$(addprefix src/exec/output/, \
	outfile.c outlet.c spool.c)
HISTORY_SRC = $(addprefix src/history/, believe.c exchange.c kinds.c moments.c store.c \
	sweep.c)
SQL_SRC = src/sql/db.c src/sql/texts.c
RECORD_SRC = $(addprefix src/record/, \
	db.c graph.c options.c owed.c schema.c \
	$(addprefix write/, file.c killed.c log.c match.c now.c \
	parameters.c past.c record.c rest.c rows.c runs.c) \
	$(addprefix read/, axis.c copy.c part.c recover.c view.c view_lists.c \
	view_log.c view_tasks.c) \
	verify/verify.c)
SITE_SRC = $(addprefix src/site/, \
	allocation.c batch_system.c batch_systems.c deaths.c gridengine.c \
	gridengine_jobs.c hardware.c job_system.c json_systems.c node.c query.c \
	queue.c site.c slurm.c slurm_account.c slurm_fields.c \
	slurm_jobs.c)
RUN_SRC = $(addprefix src/run/, \
	clients.c comm.c comm_mpi.c crew.c door.c engine_options.c executor.c forked.c gateway.c hub.c \
	joined.c journal.c launcher.c \
	master.c needs.c needs_jobs.c open.c open_driver.c open_tasks.c pernode.c prepare.c reclaims.c \
	results.c shared.c submission.c \
	survey.c watchdog.c wire.c worker.c)
SIM_SRC = $(addprefix src/sim/, \
	bound.c campaign.c draw.c measured.c scenario.c sim.c world.c \
	scenario/bag.c scenario/run.c)
REPORT_SRC = $(addprefix src/report/, \
	causes.c inorder.c joblog.c json.c progress.c schedules.c schedules_data.c strategies.c live.c live_screen.c \
	page.c recorded.c \
	snapshot.c summary.c table.c words.c \
	workflows.c)
CLI_SRC = $(addprefix src/cli/, \
	cli.c closing.c deadline.c dry_run.c estimation.c expect.c \
	frame.c help.c history.c jobs.c look.c main.c options.c \
	options_table.c options_value.c past.c pools_record.c profiling.c \
	refused.c request.c verbs.c watch.c) \
	$(addprefix src/cli/alloc/, \
	alloc.c earlier.c joining.c own.c settings.c) \
	$(addprefix src/cli/cmd/, \
	clusters.c frontier.c history.c output.c plan.c record.c \
	report.c run.c simulate.c sizes.c status.c tasks.c top.c why.c)

CLIENT_SRC = src/client/main.c
APPS_SRC = benchmarks/apps/sarsa.c benchmarks/apps/som.c
BENCH_SRC = $(addprefix benchmarks/, \
	latency.c pingpong.c rows.c spawn.c das/bag.c estimate/chapter4.c \
	estimate/coverage.c estimate/frontier.c estimate/promises.c \
	estimate/regression.c tail/tables.c)
# These need no MPI.
CORE_BENCH_SRC = $(addprefix benchmarks/, \
	bags.c dbc/grid.c engine.c expert/deviation.c expert/figures.c \
	miser/graphs.c miser/paper.c miser/uniform.c money/past.c money/runs.c money/told.c \
	planner.c scale.c simulator.c sweeps.c windows.c)
UNIT_SRC = $(wildcard tests/unit/test_*.c)
FUZZ_SRC = $(wildcard tests/fuzz/fuzz_*.c)
SCRIPT_TESTS = $(wildcard $(addprefix tests/,$(addsuffix /t[0-9]*.sh,\
	slurm gridengine fault mpi build cli sim)))
# Those that take longest begin first: none is left to run alone at the end. The
# file says how many seconds they took (see `make test-order`).
LONG_TESTS = $(filter $(SCRIPT_TESTS) $(UNIT_TESTS), \
	$(patsubst tests/unit/%.c,$(B)/tests/%,$(shell cat tests/order)))
# Of the others, scripts and programs take turns: scripts mostly wait.
SHORT_TESTS = $(subst +, ,$(join \
	$(addsuffix +,$(filter-out $(LONG_TESTS),$(SCRIPT_TESTS))), \
	$(filter-out $(LONG_TESTS),$(UNIT_TESTS))))
# Those that make asan runs too.
SMOKE_TESTS = tests/mpi/t0001-run.sh

# libbats is what needs neither MPI nor an operating system.
LIB_SRC = $(UTIL_SRC) $(PLAN_SRC) $(ESTIMATE_SRC) $(ENGINE_SRC)
# Everything but main(), for the unit tests to link with.
REST_SRC = $(INPUT_SRC) $(PROTO_SRC) $(EXEC_SRC) $(SQL_SRC) $(RECORD_SRC) \
	$(HISTORY_SRC) $(SITE_SRC) $(RUN_SRC) $(SIM_SRC) $(REPORT_SRC) $(filter-out src/cli/main.c,$(CLI_SRC))

# ---- flags ----

ALL_CPPFLAGS = -Iinclude -Isrc -D_GNU_SOURCE -DBATS_VERSION='"$(VERSION)"' \
	$(CPPFLAGS)
# The flags of the library $(1), from pkg-config, else the usual ones. Warnings
# about its headers are not for us.
library_cflags = $(patsubst -I%,-isystem %,$(shell \
	pkg-config --cflags $(1) 2>/dev/null))
library_libs = $(shell pkg-config --libs $(1) 2>/dev/null || echo -l$(1))
with = $(if $(filter yes,$($(1))),$(2))
OPTIONAL = $(call with,HWLOC,hwloc) $(call with,PMIX,pmix) \
	$(call with,GNUTLS,gnutls)
OPTIONAL_CPPFLAGS := $(call with,HWLOC,-DBATS_HAVE_HWLOC) \
	$(call with,PMIX,-DBATS_HAVE_PMIX) \
	$(call with,GNUTLS,-DBATS_HAVE_GNUTLS) \
	$(foreach l,$(OPTIONAL),$(call library_cflags,$(l)))
# These alone are rebuilt when such a library comes or goes.
OPTIONAL_SRC := $(shell grep -rl --include='*.c' BATS_HAVE_ src tests/unit)
OPTIONAL_LIBS := $(foreach l,$(OPTIONAL),$(call library_libs,$(l)))
ALL_CFLAGS = -std=c11 -MMD -MP $(CFLAGS)
ifeq ($(DEVELOPER),1)
ALL_CFLAGS += -Wall -Wextra -Wno-unused-parameter -Wshadow -Wconversion \
	-Wmissing-prototypes -Werror
endif
ifneq ($(SANITIZE),)
ALL_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	-fno-sanitize-recover=all
endif
# --as-needed keeps MPI out of the tests that do not use it.
ALL_LDFLAGS = -Wl,--as-needed $(LDFLAGS)
LIBS = -lsqlite3 -ljansson -lgsl -lgslcblas $(OPTIONAL_LIBS) -lm

# The wrapper is told to use the same compiler.
MPI_ENV = OMPI_CC="$(CC)" MPICH_CC="$(CC)"

ifeq ($(V),1)
Q =
say = @:
else
Q = @
say = @printf '  %-5s %s\n'
MAKEFLAGS += --no-print-directory
endif

obj = $(1:%.c=$(B)/obj/%.o)
LIB_OBJ = $(call obj,$(LIB_SRC))
REST_OBJ = $(call obj,$(REST_SRC))
MAIN_OBJ = $(call obj,$(filter src/cli/main.c,$(CLI_SRC)))
PROGRAM = $(B)/bats-mpi
CLIENTS = $(addprefix $(B)/bats-,submit state cancel shell)
LIB = $(B)/libbats.a
SHARED = $(B)/libbats.so.1
REST = $(B)/librest.a
APPS = $(APPS_SRC:benchmarks/apps/%.c=$(B)/apps/%)
BENCH = $(BENCH_SRC:benchmarks/%.c=$(B)/bench/%)
CORE_BENCH = $(CORE_BENCH_SRC:benchmarks/%.c=$(B)/bench/%)
FUZZERS = $(FUZZ_SRC:tests/fuzz/%.c=$(B)/%)
# A fuzz target without its fuzzer is a test with the inputs in the tree.
UNIT_TESTS = $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%) \
	$(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/%)

PACKAGES = CC='$(CC)' MPICC='$(MPICC)' sh packaging/packages.sh

# ---- rules ----

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: deb installcheck soak all programs demo demo-workflow check check-layers unit-tests tests test-order asan \
	fuzz fuzzers coverage bench bench-quick bench-programs test-programs \
	slurm-shell install format clean help FORCE

all:
	@$(PACKAGES) need build
	$(Q)$(MAKE) programs

# Without them this is lost.
without_hwloc = tasks are not bound to cores, hardware is not shown
without_pmix = node numbers are not shown, a worker lost on another host is \
	noticed only by its silence
without_gnutls = worker jobs cannot join
missing = $(if $(filter yes,$($(1))),,echo 'Built without $(2): $(without_$(2))';)

programs: $(PROGRAM) $(CLIENTS)
	@$(call missing,HWLOC,hwloc) $(call missing,PMIX,pmix) \
	$(call missing,GNUTLS,gnutls) :

# Objects are rebuilt when the flags change, not only when a source does. Tests
# run several makes here at a time.
keep = { printf '%s\n' '$(subst ','\'',$(1))' >$@.$$$$ && \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi; }

$(B)/flags: FORCE
	@mkdir -p $(@D)
	@$(call keep,$(CC) $(MPICC) $(ALL_CPPFLAGS) $(ALL_CFLAGS))

$(B)/optional-flags: FORCE
	@mkdir -p $(@D)
	@$(call keep,$(OPTIONAL_CPPFLAGS))

$(call obj,$(OPTIONAL_SRC)): $(B)/optional-flags
$(call obj,$(OPTIONAL_SRC)): private ALL_CPPFLAGS += $(OPTIONAL_CPPFLAGS)

# They are for the shared library, too.
$(LIB_OBJ): private ALL_CFLAGS += -fPIC -fno-semantic-interposition

# Tests compute little themselves, but for one: they compile five times faster.
$(call obj,$(filter-out %_property.c,$(UNIT_SRC))): private ALL_CFLAGS += -O0

# The assembler reads these into it.
$(B)/obj/src/report/page.o: $(wildcard src/report/page/*)
$(B)/obj/src/cli/help.o: $(wildcard src/cli/*.txt src/cli/complete.*sh) \
	src/doc/man.roff
$(B)/obj/src/input/sweep/planfile.o: src/input/sweep/plan.sh
$(B)/obj/src/run/pernode.o: src/run/pernode.sh
$(call obj,$(CLIENT_SRC)): src/client/usage.txt
$(call obj,$(RECORD_SRC)): $(wildcard src/record/*.sql src/record/*/*.sql)
$(B)/obj/src/history/store.o: $(wildcard src/history/*.sql)

$(call obj,$(RUN_SRC) $(BENCH_SRC)): $(B)/obj/%.o: %.c $(B)/flags
	$(say) MPICC $<
	@mkdir -p $(@D)
	$(Q)$(MPI_ENV) $(MPICC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(B)/obj/%.o: %.c $(B)/flags
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# The lists above change, too: a source that is older than the archive but new
# to it has to get in.
$(LIB): $(LIB_OBJ) Makefile
$(REST): $(REST_OBJ) Makefile
$(LIB) $(REST):
	$(say) AR $@
	@rm -f $@
	$(Q)$(AR) qcs $@ $(filter %.o,$^)

# What the headers name is exported, and nothing else. The number is that of the
# interface: it changes with what breaks a program that was linked before.
$(SHARED): $(LIB_OBJ) $(wildcard include/bats/*.h) Makefile
	$(say) LINK $@
	@{ echo 'BATS_1 { global:'; grep -oh '\bbats_[a-z0-9_]*' \
		include/bats/*.h | sort -u | sed 's/$$/;/'; \
		echo 'local: *; };'; } >$(B)/libbats.map
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(B)/libbats.map -Wl,-z,defs -o $@ \
		$(LIB_OBJ) -lgsl -lgslcblas -lm

$(PROGRAM): $(MAIN_OBJ) $(REST) $(LIB)
	$(say) LINK $@
	$(Q)$(MPI_ENV) $(MPICC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(B)/bats-submit: $(call obj,$(CLIENT_SRC)) $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(filter-out %-submit,$(CLIENTS)): $(B)/bats-submit
	$(Q)ln -sf bats-submit $@

$(B)/apps/%: $(B)/obj/benchmarks/apps/%.o
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(B)/bench/%: $(B)/obj/benchmarks/%.o $(REST) $(LIB)
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(MPI_ENV) $(MPICC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# The core beside another library, where that is installed.
PEERS = $(B)/bench/glpk/peer $(B)/bench/simgrid/peer
$(B)/bench/glpk/peer: PEER_LIBS = -lglpk
$(B)/bench/simgrid/peer: PEER_LIBS = -lsimgrid

# Runs of which the engine is told more than it could know.
$(B)/bench/money/told: PEER_LIBS = $(foreach f,\
	bats_sim_run forecast_spread problem_make,-Wl,--wrap=$(f))
$(B)/bench/money/told: $(B)/obj/benchmarks/money/runs.o

$(CORE_BENCH) $(PEERS): $(B)/bench/%: $(B)/obj/benchmarks/%.o $(REST) $(LIB)
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) \
		$(filter %.a,$^) $(PEER_LIBS) $(LIBS)

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(B)/obj/tests/unit/helpers/check.o \
		$(REST) $(LIB)
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(MPI_ENV) $(MPICC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ \
		-lcmocka $(LIBS)

$(B)/tests/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o \
		$(B)/obj/tests/fuzz/replay.o $(REST) $(LIB)
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(MPI_ENV) $(MPICC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

# ---- targets for people ----

# What compiles for people who did not say -j: on all cores.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

demo:
	@$(PACKAGES) install build
	$(Q)$(MAKE) $(PARALLEL) programs $(APPS)
	@B=$(B) sh benchmarks/demo/run.sh

demo-workflow:
	@$(PACKAGES) install build
	$(Q)$(MAKE) $(PARALLEL) programs $(APPS)
	@B=$(B) sh benchmarks/demo/workflow.sh

# In steps: what the second one runs may be installed by the first; what only
# tests need comes while that compiles. The tests run make, too, and must not be
# promised the processes of this one.
check:
	@$(PACKAGES) install build libs
	$(Q)$(PACKAGES) install test & \
	$(MAKE) $(PARALLEL) check-layers test-programs; \
	code=$$?; wait $$! && exit $$code
	$(Q)$(MAKE) tests

check-layers: $(LIB_OBJ) $(REST_OBJ)
	@sh tests/build/check-layers.sh $(LIB_OBJ) -- $(REST_OBJ)

TEST_ENV = TOP=$(CURDIR) B=$(abspath $(B)) BATS_MPI=$(abspath $(PROGRAM)) \
	CC='$(CC)' MPICC='$(MPICC)' CMOCKA_MESSAGE_OUTPUT=TAP \
	BATS_HISTORY=

unit-tests: $(filter $(UNIT_TESTS),$(TESTS))

# The scripts run applications and write the bag of the thesis, too.
test-programs: programs $(APPS) $(B)/bench/das/bag

# Most unit tests are built while scripts wait: one.sh waits for the lock before
# it runs those, or what runs make.
tests: test-programs
	$(Q)exec 7>$(B)/building; flock 7; \
	$(MAKE) $(PARALLEL) unit-tests >/dev/null & exec 7>&-; \
	$(TEST_ENV) prove -f --timer -j $(TEST_JOBS) \
		--state=save --statefile=$(B)/times \
		--exec 'sh tests/one.sh $(TEST_TIMEOUT)' $(TESTS) \
		</dev/null 9>&2; \
	code=$$?; wait $$! || code=$$?; exit $$code

# The tests that took ten seconds or more when they last ran.
test-order:
	@awk '/^  [^ ]+:$$/ { sub(/:/, ""); test = $$1 } \
		/^ *elapsed: / && $$2 >= 10 { printf "%.0f %s\n", $$2, test }' \
		$(B)/times | sed -E 's,$(B)/tests/(test_.*),tests/unit/\1.c,' | \
		sort -rn >tests/order

# A shell in the Slurm cluster that the tests use; it goes with the shell.
slurm-shell: $(PROGRAM)
	@$(TEST_ENV) PATH="$(abspath $(B)):$$PATH" sh tests/slurm/testbed.sh \
		sh -c 'cd "$$BED"; sinfo; exec "$${SHELL:-sh}" -i' || true

# Open MPI never frees all it allocates, so a leak counts only without MPI.
SANITIZED = tests B=$(B)-asan SANITIZE=address,undefined
asan:
	$(Q)UBSAN_OPTIONS=print_stacktrace=1 $(MAKE) $(SANITIZED) \
		TESTS='$$(UNIT_TESTS)'
	$(Q)UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=0 \
		$(MAKE) $(SANITIZED) TESTS='$(SMOKE_TESTS)'

# Each fuzzer for FUZZ_SECONDS; what they find stays in the build directory.
fuzz:
	$(Q)$(MAKE) fuzzers B=$(B)-fuzz CC=clang \
		SANITIZE=address,undefined,fuzzer-no-link

fuzzers: $(FUZZERS)
	@cd $(B) && for f in $(notdir $^); do \
		mkdir -p $$f.corpus && ./$$f -print_final_stats=1 \
			-max_total_time=$(FUZZ_SECONDS) $$f.corpus \
			$(CURDIR)/tests/fuzz/seeds/$${f#fuzz_} || exit 1; \
	done

$(B)/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(REST) $(LIB)
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# Lines that the tests reach, file by file.
coverage:
	$(Q)$(MAKE) tests B=$(B)-coverage CFLAGS='-O0 -g --coverage'
	@find $(B)-coverage/obj/src -name '*.gcda' -exec gcov -n {} + 2>/dev/null | awk -F"'" '\
		/^File .src|^File .include/ { file = $$2 } \
		/^Lines/ && file { sub(/Lines executed:/, ""); \
			printf "%-32s %s\n", file, $$0; file = "" }' | sort

bench: bench-programs
	$(Q)B=$(abspath $(B)) sh benchmarks/run.sh

bench-quick: bench-programs
	$(Q)B=$(abspath $(B)) sh benchmarks/run.sh quick

peer = @if echo '\#include <$(2)>' | $(CC) -E - >/dev/null 2>&1; \
	then $(MAKE) $(B)/bench/$(1)/peer; else echo 'No $(2): left out'; fi
bench-programs: programs $(APPS) $(BENCH) $(CORE_BENCH)
	$(call peer,glpk,glpk.h)
	$(call peer,simgrid,simgrid/engine.h)

# Half of the workers are killed in each session.
soak:
	$(Q)SOAK_TASKS=100000 SOAK_WORKERS=16 $(MAKE) tests TEST_TIMEOUT=7200 \
		TESTS=tests/fault/t0301-soak.sh

install: $(PROGRAM) $(CLIENTS) $(LIB) $(SHARED)
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' \
		VERSION='$(VERSION)' B='$(B)' sh packaging/install.sh

# The installed program runs a bag, and a program that uses libbats is built.
installcheck:
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' CC='$(CC)' \
		sh packaging/installcheck.sh

# Debian packages, in $(B)/deb.
deb:
	@B='$(abspath $(B))' VERSION='$(VERSION)' sh packaging/deb.sh

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf $(B) $(B)-asan $(B)-fuzz $(B)-coverage

help:
	@echo 'make            the program, in $(B)/'
	@echo 'make demo       a parameter sweep within a budget, with its bill'
	@echo 'make demo-workflow   a Makeflow within a budget, a machine is taken away'
	@echo 'make check      every test'
	@echo 'make asan       the tests with the address and undefined sanitizers'
	@echo 'make fuzz       the readers of foreign input, with clang'
	@echo 'make coverage   lines that the tests reach'
	@echo 'make soak       100,000 tasks, workers and a master that are killed'
	@echo 'make bench      the benchmarks, into benchmarks/RESULTS.md (15 minutes)'
	@echo 'make bench-quick  the same with few repeats, printed only (2 minutes)'
	@echo 'make slurm-shell   a shell in a Slurm cluster of eight small nodes'
	@echo 'make install    to PREFIX=$(PREFIX), below DESTDIR'
	@echo 'make installcheck   what was installed runs a bag'
	@echo 'make deb        Debian packages, in $(B)/deb'
	@echo 'make check-layers, format, clean'
	@echo
	@echo 'Knobs: CC MPICC CFLAGS PREFIX LIBDIR DESTDIR B V=1 DEVELOPER=1 SANITIZE'
	@echo "make tests TESTS='build/tests/test_plan tests/mpi/t0001-run.sh'"
