/* options_table: every option of every verb. See options.h. */
#include "cli/options.h"

#define RUN (1u << BATS_VERB_RUN)
#define SAMPLE (1u << BATS_VERB_SAMPLE)
#define RUNS (RUN | SAMPLE)
#define ALLOC (1u << BATS_VERB_ALLOC)
#define PLAN (1u << BATS_VERB_PLAN)
#define SIMULATE (1u << BATS_VERB_SIMULATE)
#define FRONTIER (1u << BATS_VERB_FRONTIER)
#define CLUSTERS (1u << BATS_VERB_CLUSTERS)
#define OUTPUT (1u << BATS_VERB_OUTPUT)
#define WORKER (1u << BATS_VERB_WORKER)
#define STATUS (1u << BATS_VERB_STATUS)
#define TOP (1u << BATS_VERB_TOP)
#define REPORT (1u << BATS_VERB_REPORT)
#define EXPORT (1u << BATS_VERB_EXPORT)
#define TASKS (1u << BATS_VERB_TASKS)
#define LOG (1u << BATS_VERB_LOG)
#define READS (STATUS | LOG | TASKS)
#define ALL ((1u << BATS_VERBS) - 1)
#define AT(member) offsetof(struct bats_settings, member)

const struct bats_option bats_options[] = {
    {"arg-file", 'a', "FILE", BATS_OPTION_SOURCE, BATS_SOURCE_LINES, RUNS,
     BATS_GROUP_SWEEP, "values: the lines of FILE, as with ':::: FILE'"},
    {"csv", 0, "FILE", BATS_OPTION_SOURCE, BATS_SOURCE_CSV, RUNS,
     BATS_GROUP_SWEEP,
     "values: the records of FILE (RFC 4180). Its header has their names, "
     "for {name} and for variables of the task"},
    {"array", 0, "LIST", BATS_OPTION_SOURCE, BATS_SOURCE_ARRAY, RUNS,
     BATS_GROUP_SWEEP,
     "values: numbers, as in 1-100:2 or 1,3,5-9, with the name array_id"},
    {"from-json", 0, "FILE", BATS_OPTION_SOURCE, BATS_SOURCE_JSON, RUNS,
     BATS_GROUP_SWEEP,
     "values: those of an array or of JSON lines; the keys of objects are "
     "names, as with --csv"},
    {"colsep", 'C', "REGEXP", BATS_OPTION_TEXT, AT(sweep.colsep), RUNS,
     BATS_GROUP_SWEEP,
     "divide lines and values into columns {1}, {2}, ... by this extended "
     "regular expression, in which \\t is a tab"},
    {"header", 0, ":", BATS_OPTION_CHOICE, AT(header), RUNS, BATS_GROUP_SWEEP,
     "the first line or value has the name, or the names of the columns, as "
     "with --csv"},
    {"quote", 0, NULL, BATS_OPTION_FLAG, AT(sweep.quote), RUNS,
     BATS_GROUP_SWEEP,
     "quote the words of COMMAND for the shell, so that it sees them as they "
     "are"},
    {"link", 0, NULL, BATS_OPTION_FLAG, AT(sweep.link), RUNS, BATS_GROUP_SWEEP,
     "take one value of each list for a task, not all combinations; shorter "
     "lists begin again"},
    {"max-args", 'n', "N", BATS_OPTION_TEXT, AT(max_args), RUNS,
     BATS_GROUP_SWEEP,
     "put N values into each command: {} is all of them, {1} the first; 0: a "
     "task for each value, which {} leaves out"},
    {"max-replace-args", 'N', "N", BATS_OPTION_TEXT, AT(max_args), RUNS,
     BATS_GROUP_SWEEP, "the same"},
    {"null", '0', NULL, BATS_OPTION_FLAG, AT(sweep.null), RUNS,
     BATS_GROUP_SWEEP, "a NUL ends each value of a file, not a newline"},
    {"tasks", 0, "N|FILE", BATS_OPTION_TEXT, AT(tasks), PLAN, BATS_GROUP_PLAN,
     "number of tasks in the bag; or the bag or workflow itself, so that who "
     "waits for whom is known"},
    {"runtime", 0, "LIST", BATS_OPTION_TEXT, AT(runtime), PLAN,
     BATS_GROUP_PLAN,
     "mean runtime of a task on each cluster, as in slow=15m,fast=3.75m "
     "(default: 'expected' in the clusters file, as a guess)"},
    {"failed", 0, NULL, BATS_OPTION_FLAG, AT(failed), TASKS, BATS_GROUP_TASKS,
     "those that failed"},
    {"slowest", 0, "N", BATS_OPTION_COUNT, AT(slowest), TASKS,
     BATS_GROUP_TASKS, "the N slowest, the slowest first"},
    {"state", 0, "pending|running|done|failed|skipped|removed",
     BATS_OPTION_CHOICE, AT(state), TASKS, BATS_GROUP_TASKS,
     "those in this state (skipped: not run, for one that they wait for was "
     "not done, or their workflow has no money for them; removed: no longer "
     "in the bag)"},
    {"machine", 0, "NAME", BATS_OPTION_TEXT, AT(on_machine), LOG,
     BATS_GROUP_TASKS, "what happened on this machine, as in slow-3"},
    {"last", 0, "N", BATS_OPTION_COUNT, AT(last), LOG, BATS_GROUP_TASKS,
     "the last N entries"},
    {"where", 0, "EXPRESSION", BATS_OPTION_TEXT, AT(where), TASKS,
     BATS_GROUP_TASKS,
     "those for which this SQL expression is true, as in 'rate > 0.1': the "
     "parameters of a sweep (p1, p2, ... if they have no names), and the "
     "columns of the view tasks in the record, such as wall_s and host"},
    {"partition", 'p', "LIST", BATS_OPTION_TEXT, AT(partition), ALLOC,
     BATS_GROUP_MONEY,
     "the partitions to buy jobs in, as in slow,fast; each is a cluster with "
     "a price of its own"},
    {"unreliable", 0, "LIST", BATS_OPTION_TEXT, AT(unreliable), ALLOC,
     BATS_GROUP_MONEY,
     "those of the partitions whose jobs may be lost, by preemption for "
     "instance: for --policy expert"},
    {"budget", 'b', "AMOUNT|account", BATS_OPTION_BUDGET, AT(budget), ALLOC,
     BATS_GROUP_MONEY,
     "never be billed more than AMOUNT, or than what Slurm reports as left in "
     "the account: all jobs together, those that wait counted as if they ran "
     "to their limit, and this one if it is a job itself (default: "
     "$BATS_BUDGET, else unlimited)"},
    {"window", 'w', "DURATION", BATS_OPTION_PERIOD, AT(window), ALLOC,
     BATS_GROUP_MONEY,
     "the longest time that a job works; it asks for less at the end of the "
     "bag, and in any case for 10 s more, rounded up to minutes, and is given "
     "back as soon as it has nothing to do (default: 10m at first, then what "
     "the tasks need, as far as the partition allows)"},
    {"nodes", 'N', "N", BATS_OPTION_SMALL, AT(nodes), ALLOC, BATS_GROUP_MONEY,
     "nodes of a job (default: 1)"},
    {"slots", 0, "N", BATS_OPTION_SMALL, AT(slots), ALLOC, BATS_GROUP_MONEY,
     "tasks at a time on each node of a job (default: 1)"},
    {"max-jobs", 0, "N", BATS_OPTION_COUNT, AT(max_jobs), ALLOC,
     BATS_GROUP_MONEY,
     "ask for at most N jobs at a time, with --unreliable of either kind; one "
     "that has a successor does not count any more (default: 8)"},
    {"time-min", 0, "DURATION", BATS_OPTION_PERIOD, AT(least), ALLOC,
     BATS_GROUP_MONEY,
     "let Slurm give a job less time, but no less than this, if it can start "
     "sooner then"},
    {"account", 'A', "NAME", BATS_OPTION_TEXT, AT(account), ALLOC,
     BATS_GROUP_MONEY, "the account that pays (default: the user's)"},
    {"sbatch", 0, "OPTIONS", BATS_OPTION_TEXT, AT(sbatch), ALLOC,
     BATS_GROUP_MONEY,
     "further options for sbatch, separated by blanks, as in '--qos=low "
     "--mem=4G'"},
    {"poll", 0, "DURATION", BATS_OPTION_PERIOD, AT(poll), ALLOC,
     BATS_GROUP_RUN,
     "ask Slurm about the jobs, all with one squeue, at most so often "
     "(default: 10s)"},
    {"policy", 0, "bats|rr|expert", BATS_OPTION_CHOICE, AT(policy), ALLOC,
     BATS_GROUP_MONEY,
     "bats: ask for the jobs that end the bag soonest within the budget; rr: "
     "for as many as there are tasks and money for; expert: for jobs of the "
     "partitions in --unreliable, and of the others only for the last tasks, "
     "by --strategy or --utility (default: bats)"},
    {"dry-run", 'n', NULL, BATS_OPTION_FLAG, AT(dry_run), ALLOC,
     BATS_GROUP_RUN,
     "show what jobs cost, and the first ones as they would be submitted; "
     "start nothing"},
    {"clusters", 'c', "FILE", BATS_OPTION_FILE, AT(clusters), PLAN,
     BATS_GROUP_MONEY, "the clusters and what they charge"},
    {"clusters", 'c', "FILE", BATS_OPTION_FILE, AT(clusters), RUNS | CLUSTERS,
     BATS_GROUP_MONEY,
     "the clusters and what they charge (default: those found, as 'bats-mpi "
     "clusters' shows them)"},
    {"machine", 0, "node|rank", BATS_OPTION_CHOICE, AT(machine),
     RUNS | CLUSTERS, BATS_GROUP_MONEY,
     "without a clusters file: the unit that is held and charged (default: "
     "node if the job holds whole nodes, else rank)"},
    {"budget", 'b', "AMOUNT|P%|account", BATS_OPTION_BUDGET, AT(budget),
     RUNS | CLUSTERS, BATS_GROUP_MONEY,
     "never be charged more than AMOUNT, or than what Slurm reports as left "
     "in the job's account, or, in a run with a profile, than P% of the way "
     "from the cost of the cheapest schedule (0%) to that of the fastest "
     "(100%) (default: $BATS_BUDGET, else the charge of all machines until "
     "the batch job ends, else unlimited)"},
    {"budget", 'b', "AMOUNT|P%", BATS_OPTION_MONEY, AT(budget), PLAN,
     BATS_GROUP_MONEY,
     "never be charged more than AMOUNT, or than P% of the way from the cost "
     "of the cheapest schedule (0%) to that of the fastest (100%) (default: "
     "$BATS_BUDGET, else unlimited)"},
    {"deadline", 0, "WHEN", BATS_OPTION_DEADLINE, AT(deadline), RUNS | PLAN,
     BATS_GROUP_MONEY,
     "have the bag done by then: a duration from the start (4h), a time "
     "(18:30, 2026-11-22T18:30) or, with a profile, a percentage of the way "
     "from the soonest end (0%) to that of the cheapest schedule (100%)"},
    {"deadline", 0, "WHEN", BATS_OPTION_DEADLINE, AT(deadline), SIMULATE,
     BATS_GROUP_MONEY,
     "have the bag done by then: a duration from the start (4h), or a "
     "percentage of the way from the soonest end possible (0%) to the soonest "
     "for the least money (100%); overrides the scenario"},
    {"minimize", 0, "cost|time", BATS_OPTION_CHOICE, AT(minimize),
     RUNS | PLAN | SIMULATE, BATS_GROUP_MONEY,
     "cost: end by the deadline for as little money as possible; time: end as "
     "soon as the budget allows, and say if that is too late (default: cost "
     "with --deadline, else time)"},
    {"choose", 0, "SCHEDULE", BATS_OPTION_TEXT, AT(choose), RUN,
     BATS_GROUP_MONEY,
     "sample first, show the schedules on offer and run this one: cheapest, "
     "cheaper, balanced, faster, fastest, or ask (default without --budget "
     "and --deadline: start all machines, show the schedules during the "
     "run). With --policy expert only ask: show the strategies when the tail "
     "begins, and follow the best by --utility until another one is typed"},
    {"profile", 0, "FILE", BATS_OPTION_FILE, AT(profile), RUN,
     BATS_GROUP_MONEY,
     "continue from the sample that 'bats-mpi sample' kept in FILE, with "
     "--choose, --budget or --deadline; no task runs twice. With --policy "
     "expert: begin with what FILE tells of unreliable machines (run --save, "
     "frontier --save), of any bag"},
    {"cushion", 0, NULL, BATS_OPTION_FLAG, AT(cushion), RUN, BATS_GROUP_MONEY,
     "with --policy bkp: also allow the cushion listed with the chosen "
     "schedule, for the last tasks"},
    {"save", 0, "FILE", BATS_OPTION_FILE, AT(save), SAMPLE, BATS_GROUP_MONEY,
     "write what was learned to FILE (default: BAG.profile)"},
    {"save", 0, "FILE", BATS_OPTION_FILE, AT(save), RUN, BATS_GROUP_MONEY,
     "when the run ends write what it has learned to FILE: a profile for "
     "'bats-mpi frontier', if clusters are unreliable, and for 'plan'"},
    {"sample-on", 0, "N", BATS_OPTION_SMALL, AT(sample_on), RUNS,
     BATS_GROUP_MONEY,
     "take the sample on N slots of the cheapest cluster, and of each other one "
     "for no more money, but one (bkp: of every cluster; default: 7, and all "
     "that cost nothing)"},
    {"confidence", 0, "P", BATS_OPTION_LEVEL, AT(confidence), RUNS | PLAN,
     BATS_GROUP_MONEY,
     "confidence level of the bounds on mean, deviation and makespan, 0.5 "
     "to 0.9999 (default: 0.9; an upper bound then holds with at least 3P - "
     "2)"},
    {"window", 'w', "DURATION", BATS_OPTION_PERIOD, AT(window),
     RUNS | PLAN | CLUSTERS, BATS_GROUP_MONEY,
     "length of a charged window (default: from the clusters file, else 60m)"},
    {"policy", 0,
     "bats|bkp|rr|dbc-cost|dbc-time|dbc-conservative-time|dbc-cost-time|"
     "expert|miser|mw-dbs|flow",
     BATS_OPTION_CHOICE, AT(policy), RUNS | PLAN, BATS_GROUP_MONEY,
     "bats: buy the machine-windows that end the bag soonest within the "
     "budget; bkp: sample, then hold one configuration, as in the papers; rr: "
     "use all machines for as long as the budget lasts; dbc-cost, dbc-time, "
     "dbc-conservative-time, dbc-cost-time: the least cost, or time, within "
     "deadline and budget, as in the papers on grids; expert: replicate the "
     "last tasks on machines that may not answer, by --strategy; miser, mw-dbs, "
     "flow: place each task of a workflow within budget and deadline, where "
     "use is charged (default: bats; expert where a cluster is unreliable and "
     "use is charged)"},
    {"strategy", 0, "STRATEGY", BATS_OPTION_TEXT, AT(strategy), RUN | ALLOC,
     BATS_GROUP_MONEY,
     "of --policy expert: N=3,T=1x,D=2x,Mr=0.02 (N instances in the "
     "unreliable pool, one every T, given up after D, T and D as multiples of "
     "the mean runtime or as durations; then one in the reliable pool, of "
     "which Mr times the other's size is used), or AR, TRR, TR, AUR, B=AMOUNT, "
     "CNinf, CN1T0 (default: by --utility)"},
    {"utility", 0, "EXPRESSION", BATS_OPTION_TEXT, AT(utility), RUN | ALLOC,
     BATS_GROUP_MONEY,
     "with --policy expert: when fewer tasks are left than there are "
     "unreliable machines, choose the strategy for which this is least, "
     "within budget and deadline: cheapest, fastest, product (makespan x "
     "cost), or arithmetic as in 'bats-mpi frontier --help'; again when "
     "reliability changes (default: product)"},
    {"tail", 0, "none|random|stochastic|stochastic-random|migrate|soonest",
     BATS_OPTION_CHOICE, AT(tail), RUNS | ALLOC, BATS_GROUP_RUN,
     "how paid but idle machines replicate the last running tasks; the "
     "first replica to succeed gives the result. random: any task of a "
     "slower machine; stochastic: the task expected to end last, if the "
     "replica is expected to end first; migrate: as stochastic, but first "
     "take over tasks from slower machines; soonest: as stochastic, but the "
     "task with the latest likely end, so that the bag ends soonest "
     "(default: soonest)"},
    {"no-replicate", 0, NULL, BATS_OPTION_FLAG, AT(no_replicate), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "never run a task twice at the same time, as if every command began "
     "with '@once'; the same as --tail none"},
    {"monitor", 0, "DURATION", BATS_OPTION_PERIOD, AT(monitor), RUNS | ALLOC,
     BATS_GROUP_MONEY,
     "time between two checks of the plan against reality (default: a "
     "twelfth of the window)"},
    {"seed", 0, "N", BATS_OPTION_COUNT, AT(seed), RUNS | ALLOC, BATS_GROUP_RUN,
     "seed of the order in which tasks are drawn (default: random, and "
     "shown so that the run can be repeated)"},
    {"seed", 0, "N", BATS_OPTION_COUNT, AT(seed), SIMULATE, BATS_GROUP_RUN,
     "only this seed; overrides the scenario"},
    {"budget", 'b', "AMOUNT", BATS_OPTION_MONEY, AT(budget), FRONTIER,
     BATS_GROUP_MONEY, "mark the fastest strategy that costs no more"},
    {"deadline", 0, "DURATION", BATS_OPTION_DEADLINE, AT(deadline), FRONTIER,
     BATS_GROUP_MONEY, "mark the cheapest strategy that takes no longer"},
    {"utility", 0, "EXPRESSION", BATS_OPTION_TEXT, AT(utility), FRONTIER,
     BATS_GROUP_MONEY,
     "mark the strategy for which this is least: arithmetic with makespan and "
     "tail in seconds, cost, task_cost, min(a, b), max(a, b), sqrt(a), log(a), "
     "< and >, as in 'cost + 5 * (makespan > 3600)'"},
    {"strategy", 0, "STRATEGY", BATS_OPTION_TEXT, AT(strategy), FRONTIER,
     BATS_GROUP_MONEY, "also play this one, as for 'bats-mpi run'"},
    {"online", 0, NULL, BATS_OPTION_FLAG, AT(online), FRONTIER,
     BATS_GROUP_MONEY,
     "of a record, use only what was known when the tail began"},
    {"plays", 0, "N", BATS_OPTION_SMALL, AT(plays), FRONTIER, BATS_GROUP_RUN,
     "plays of each strategy (default: 100)"},
    {"seed", 0, "N", BATS_OPTION_COUNT, AT(seed), FRONTIER, BATS_GROUP_RUN,
     "seed of the plays (default: 1)"},
    {"jobs", 'j', "N", BATS_OPTION_SMALL, AT(jobs), FRONTIER, BATS_GROUP_RUN,
     "play on N threads; the results do not depend on N (default: 0, one per "
     "core)"},
    {"save", 0, "FILE", BATS_OPTION_FILE, AT(save), FRONTIER,
     BATS_GROUP_OUTPUT, "write what is known of the pools to FILE"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), FRONTIER, BATS_GROUP_OUTPUT,
     "every strategy as a JSON object on a line of its own"},
    {"csv", 0, NULL, BATS_OPTION_FLAG, AT(csv), FRONTIER, BATS_GROUP_OUTPUT,
     "every strategy as a line of comma-separated values"},
    {"trace", 0, NULL, BATS_OPTION_FLAG, AT(trace), SIMULATE,
     BATS_GROUP_OUTPUT,
     "show the runs of the first seed (or of --seed) event by event, "
     "instead of all results"},
    {"jobs", 'j', "N", BATS_OPTION_SMALL, AT(jobs), SIMULATE, BATS_GROUP_RUN,
     "simulate on N threads; the results do not depend on N (default: 0, "
     "one per core)"},
    {"jobs", 'j', "N", BATS_OPTION_TEXT, AT(workers), RUNS | CLUSTERS,
     BATS_GROUP_RUN,
     "without a launcher (srun, mpirun): start N workers on this machine; +N, "
     "-N: so many more or fewer than cores; N%: of the cores; 0: as many as "
     "possible, 250 (default: 1)"},
    {"order", 0, "file|random", BATS_OPTION_CHOICE, AT(order), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "begin tasks in the order of the bag, or in random order (default: "
     "random where a budget, a deadline or schedules need a fair sample of "
     "the bag, else file)"},
    {"shuf", 0, NULL, BATS_OPTION_FLAG, AT(shuffle), RUNS | ALLOC,
     BATS_GROUP_RUN, "the same as --order random"},
    {"master-works", 0, NULL, BATS_OPTION_FLAG, AT(master_works),
     RUNS | CLUSTERS, BATS_GROUP_RUN, "let rank 0 run tasks too"},
    {"bind", 0, "none|core|numa", BATS_OPTION_CHOICE, AT(bind), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "bind tasks to the cores of their rank, or to the NUMA nodes of those "
     "cores, and set OMP_NUM_THREADS to match; none: keep the launcher's "
     "binding (default: core)"},
    {"memory", 0, "SIZE", BATS_OPTION_SIZE, AT(memory), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "the memory that each task asks for (suffixes K, M, G), unless the bag "
     "says it of this task. Limits nothing: the report sets it against what "
     "was used (default: what the batch job asked for each task)"},
    {"wd", 0, "DIR", BATS_OPTION_DIRECTORY, AT(workdir), RUNS | ALLOC,
     BATS_GROUP_RUN, "the directory in which tasks run (default: this one)"},
    {"env", 0, "NAME,...", BATS_OPTION_ENV, 0, RUNS | ALLOC, BATS_GROUP_RUN,
     "make sure that these variables or functions are exported; tasks have "
     "the whole environment in any case"},
    {"nice", 0, "N", BATS_OPTION_SMALL, AT(nice), RUNS | ALLOC, BATS_GROUP_RUN,
     "the niceness of tasks, 0 to 19 (default: 0)"},
    {"memfree", 0, "SIZE", BATS_OPTION_SIZE, AT(memfree), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "start a task on a node only while so much memory is free there "
     "(suffixes K, M, G)"},
    {"delay", 0, "DURATION", BATS_OPTION_DURATION, AT(delay), RUNS | ALLOC,
     BATS_GROUP_RUN, "time between the starts of two tasks (default: 0)"},
    {"grace", 0, "DURATION", BATS_OPTION_DURATION, AT(grace), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "time between TERM and KILL for a task that has to stop (default: 5s)"},
    {"time-limit", 0, "DURATION", BATS_OPTION_PERIOD, AT(rules.time_limit),
     RUNS | ALLOC, BATS_GROUP_FAULT,
     "end the run after this time; start no task that is expected to end "
     "later (default: shortly before the Slurm job ends)"},
    {"retries", 0, "N", BATS_OPTION_SMALL, AT(retries), RUNS | ALLOC,
     BATS_GROUP_FAULT,
     "run a task that fails up to N times in all, on another machine if there "
     "is one (default: 1)"},
    {"retry-delay", 0, "DURATION", BATS_OPTION_DURATION, AT(rules.retry_delay),
     RUNS | ALLOC, BATS_GROUP_FAULT,
     "time to wait before running a failed task "
     "again (default: 0)"},
    {"timeout", 0, "DURATION|N%", BATS_OPTION_TIMEOUT, AT(rules), RUNS | ALLOC,
     BATS_GROUP_FAULT,
     "stop a task that runs for longer, or for longer than N% of the median "
     "on its cluster, and count it as failed"},
    {"halt", 0, "WHEN", BATS_OPTION_HALT, AT(rules), RUNS | ALLOC,
     BATS_GROUP_FAULT,
     "never; soon,fail=N: start no more tasks after N have failed; "
     "now,fail=N: also stop the running ones; fail=N%: when N% of the ended "
     "tasks, and at least three, have failed (default: never)"},
    {"silence", 0, "DURATION", BATS_OPTION_PERIOD, AT(silence), WORKER,
     BATS_GROUP_FAULT,
     "a rank that has not heard of rank 0 for this long stops its task and "
     "exits (default: 60s); for rank 0, the run that it joins says how long "
     "to wait for the master"},
    {"silence", 0, "DURATION", BATS_OPTION_PERIOD, AT(silence), RUNS | ALLOC,
     BATS_GROUP_FAULT,
     "a worker that is silent for this long is lost, and its tasks run "
     "elsewhere; if rank 0 is silent for this long, every worker stops its "
     "task and exits; a busy rank sends a sign of life six times as often, "
     "or every 5s (default: 60s)"},
    {"time-scale", 0, "S", BATS_OPTION_SCALE, AT(time_scale), RUNS,
     BATS_GROUP_RUN,
     "emulation: let each real second count as S seconds of virtual time, "
     "0.000001 to 1000000 (default: 1)"},
    {"record", 0, "FILE", BATS_OPTION_FILE, AT(record), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "keep the run's record in FILE (default: BAG.bats; without a file of "
     "tasks, the name of --joblog and .bats)"},
    {"no-record", 0, NULL, BATS_OPTION_FLAG, AT(no_record), RUNS | ALLOC,
     BATS_GROUP_RUN, "keep no record: the run cannot be resumed"},
    {"record-sync", 0, "DURATION[,N]", BATS_OPTION_SYNC, AT(sync),
     RUNS | ALLOC, BATS_GROUP_RUN,
     "write the record to disk at least this often, and at least every N "
     "events; charges are written at once. 0: write before any task is "
     "started (default: 100ms,1000)"},
    {"resume", 0, NULL, BATS_OPTION_FLAG, AT(resume), RUNS | ALLOC,
     BATS_GROUP_RUN,
     "continue where the record ends; start afresh if there is none"},
    {"resume-failed", 0, NULL, BATS_OPTION_FLAG, AT(resume_failed),
     RUN | ALLOC, BATS_GROUP_RUN, "as --resume, and run failed tasks again"},
    {"retry-failed", 0, NULL, BATS_OPTION_FLAG, AT(retry_failed), RUN | ALLOC,
     BATS_GROUP_RUN,
     "run the failed tasks of the record again, and no "
     "others"},
    {"welcome", 0, "FILE", BATS_OPTION_FILE, AT(welcome), RUN, BATS_GROUP_RUN,
     "run the tasks on worker jobs, which may join at any time: FILE tells "
     "'bats-mpi worker --join FILE' how to; needs --clusters, with max for "
     "each cluster, and no launcher"},
    {"host", 0, "NAME", BATS_OPTION_TEXT, AT(host), RUN | ALLOC,
     BATS_GROUP_RUN,
     "the name or address of this host, for worker jobs (default: its host "
     "name)"},
    {"port", 0, "N", BATS_OPTION_COUNT, AT(port), RUN | ALLOC, BATS_GROUP_RUN,
     "the port for worker jobs (default: any that is free)"},
    {"join", 0, "FILE", BATS_OPTION_FILE, AT(join), WORKER, BATS_GROUP_RUN,
     "the file that the run has written; only you may read it"},
    {"job", 0, "ID", BATS_OPTION_TEXT, AT(job), WORKER, BATS_GROUP_RUN,
     "the number of this job (default: that of the batch job, else host and "
     "process)"},
    {"dry-run", 0, NULL, BATS_OPTION_FLAG, AT(dry_run), RUN, BATS_GROUP_RUN,
     "show which tasks would run, where and at what charge; start nothing"},
    {"task", 't', "LIST", BATS_OPTION_LIST, AT(task), OUTPUT,
     BATS_GROUP_SELECT,
     "only these tasks, as in 7 or 7,10-12; counted from 1, as in "
     "BATS_TASK_ID; may be given several times"},
    {"failed", 'f', NULL, BATS_OPTION_FLAG, AT(failed), OUTPUT,
     BATS_GROUP_SELECT,
     "only tasks that failed; how each failed goes to standard error"},
    {"all", 'a', NULL, BATS_OPTION_FLAG, AT(all), OUTPUT, BATS_GROUP_SELECT,
     "all tasks that have ended (the default)"},
    {"stderr", 'e', NULL, BATS_OPTION_FLAG, AT(err), OUTPUT, BATS_GROUP_OUTPUT,
     "print their standard error instead of their standard output"},
    {"output", 'o', "lines|stream[:DIR]|none", BATS_OPTION_OUTPUT, AT(output),
     RUNS | ALLOC, BATS_GROUP_OUTPUT,
     "where the output of tasks goes. lines: shown here, whole lines at a "
     "time; stream: kept in DIR, in one file per worker instead of one per "
     "task, for 'bats-mpi output' (default DIR: BAG.out); none: dropped "
     "(default: lines)"},
    {"max-output", 0, "SIZE", BATS_OPTION_SIZE, AT(max_output), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "keep at most SIZE bytes (suffixes K, M, G: powers of 1024) of each "
     "task's standard output, and of its standard error; a line marks the "
     "cut"},
    {"keep-order", 'k', NULL, BATS_OPTION_FLAG, AT(keep_order), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "show the output of tasks in the order of the bag: that of a task waits "
     "in a temporary file until those before it have ended"},
    {"tag", 0, NULL, BATS_OPTION_FLAG, AT(tag), RUNS | ALLOC | OUTPUT,
     BATS_GROUP_OUTPUT,
     "put the number of its task and a tab in front of each line of output"},
    {"tagstring", 0, "TEXT", BATS_OPTION_TEXT, AT(tagstring), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "put this text and a tab there; it may have replacement strings, as in "
     "'{1} {#}'"},
    {"results", 0, "DIR", BATS_OPTION_DIRECTORY, AT(results), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "write output to DIR/<task>/stdout and stderr instead; or, if DIR has "
     "replacement strings, as in 'out/{1}', to those files in it"},
    {"joblog", 0, "FILE", BATS_OPTION_FILE, AT(joblog), RUNS | ALLOC,
     BATS_GROUP_OUTPUT, "log each task that ended, in GNU parallel's format"},
    {"json", 0, "FILE", BATS_OPTION_FILE, AT(json_file), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "also write the closing report as JSON (-: standard output)"},
    {"sbatch", 0, "SCHEDULE", BATS_OPTION_TEXT, AT(sbatch), PLAN,
     BATS_GROUP_OUTPUT,
     "print the Slurm job script of this schedule, given by its name, or best: "
     "of the one for --budget and --deadline. It has partitions, nodes or "
     "ranks, time limit, and the srun line"},
    {"frontier", 0, NULL, BATS_OPTION_FLAG, AT(frontier), PLAN,
     BATS_GROUP_OUTPUT,
     "all schedules that no other one beats in cost and end"},
    {"csv", 0, NULL, BATS_OPTION_FLAG, AT(csv), PLAN, BATS_GROUP_OUTPUT,
     "the frontier as comma-separated values"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), PLAN, BATS_GROUP_OUTPUT,
     "answer in JSON"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), SIMULATE, BATS_GROUP_OUTPUT,
     "every run as a JSON object on a line of its own"},
    {"csv", 0, NULL, BATS_OPTION_FLAG, AT(csv), SIMULATE, BATS_GROUP_OUTPUT,
     "every run as a line of comma-separated values"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), READS, BATS_GROUP_OUTPUT,
     "answer in JSON; log and tasks: one object per line"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), TOP, BATS_GROUP_OUTPUT,
     "print the present state in JSON"},
    {"once", 0, NULL, BATS_OPTION_FLAG, AT(once), TOP, BATS_GROUP_OUTPUT,
     "print the present state once, without a terminal"},
    {"html", 0, "FILE", BATS_OPTION_FILE, AT(html), PLAN | SIMULATE | FRONTIER,
     BATS_GROUP_OUTPUT,
     "write a page for the browser instead (-: standard output)"},
    {"out", 'o', "FILE", BATS_OPTION_FILE, AT(out), REPORT, BATS_GROUP_OUTPUT,
     "write the page there (-: standard output; default: the name of the bag "
     "and .html)"},
    {"wfformat", 0, NULL, BATS_OPTION_FLAG, AT(wfformat), EXPORT,
     BATS_GROUP_OUTPUT, "as WfFormat 1.5 (JSON) of WfCommons"},
    {"out", 'o', "FILE", BATS_OPTION_FILE, AT(out), EXPORT, BATS_GROUP_OUTPUT,
     "write it there (default: standard output)"},
    {"left", 0, NULL, BATS_OPTION_FLAG, AT(left), STATUS, BATS_GROUP_OUTPUT,
     "print only the number of tasks without a result, which --resume would "
     "run; 0 if none is left"},
    {"json", 0, NULL, BATS_OPTION_FLAG, AT(json), CLUSTERS, BATS_GROUP_OUTPUT,
     "answer in JSON, with the ranks"},
    {"save", 0, "FILE", BATS_OPTION_FILE, AT(save), CLUSTERS,
     BATS_GROUP_OUTPUT, "write the clusters found as a file for --clusters"},
    {"ranks", 0, NULL, BATS_OPTION_FLAG, AT(ranks), CLUSTERS,
     BATS_GROUP_OUTPUT, "also list the ranks, with their nodes and cores"},
    {"progress", 0, NULL, BATS_OPTION_FLAG, AT(progress), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "redraw one progress line even if no terminal is detected (under srun)"},
    {"eta", 0, NULL, BATS_OPTION_FLAG, AT(progress), RUNS | ALLOC,
     BATS_GROUP_OUTPUT, "the same"},
    {"bar", 0, NULL, BATS_OPTION_FLAG, AT(bar), RUNS | ALLOC,
     BATS_GROUP_OUTPUT, "the same, with a bar"},
    {"verbose", 0, NULL, BATS_OPTION_FLAG, AT(verbose), RUNS | ALLOC,
     BATS_GROUP_OUTPUT,
     "announce the start and the plans, and end with the bill, also where "
     "--jobs starts a run that costs nothing"},
    {"quiet", 'q', NULL, BATS_OPTION_FLAG, AT(quiet), RUNS | ALLOC,
     BATS_GROUP_OUTPUT, "no progress, no closing report: only errors"},
    {"help", 'h', NULL, BATS_OPTION_FLAG, AT(help), ALL, BATS_GROUP_OUTPUT,
     "show this help"},
};

const size_t bats_options_n = sizeof bats_options / sizeof bats_options[0];
