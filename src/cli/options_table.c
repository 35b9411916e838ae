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
#define HISTORY (1u << BATS_VERB_HISTORY)
#define TASKS (1u << BATS_VERB_TASKS)
#define LOG (1u << BATS_VERB_LOG)
#define OBJECT (PLAN | STATUS | TOP | CLUSTERS)
#define LINES (LOG | TASKS | HISTORY | SIMULATE | FRONTIER)
#define COMPUTES (SIMULATE | FRONTIER)
#define ALL ((1u << BATS_VERBS) - 1)
#define AT(member) offsetof(struct bats_settings, member)

#define ROW(name, letter, argument, kind, at, verbs, group, help)             \
    {                                                                         \
        name, letter, argument, BATS_OPTION_##kind, at, verbs,                \
            BATS_GROUP_##group, help                                          \
    }

const struct bats_option bats_options[] = {
    ROW("arg-file", 'a', "FILE", SOURCE, BATS_SOURCE_LINES, RUNS, SWEEP,
        "values: the lines of FILE, as with ':::: FILE'"),
    ROW("csv", 0, "FILE", SOURCE, BATS_SOURCE_CSV, RUNS, SWEEP,
        "values: the records of FILE (RFC 4180). Its header has their names, "
        "for {name} and for variables of the task"),
    ROW("array", 0, "LIST", SOURCE, BATS_SOURCE_ARRAY, RUNS, SWEEP,
        "values: numbers, as in 1-100:2 or 1,3,5-9, with the name array_id"),
    ROW("from-json", 0, "FILE", SOURCE, BATS_SOURCE_JSON, RUNS, SWEEP,
        "values: the items of a JSON array, or JSON lines; the keys of "
        "objects are names, as with --csv"),
    ROW("colsep", 'C', "REGEXP", TEXT, AT(sweep.colsep), RUNS, SWEEP,
        "divide lines and values into columns {1}, {2}, ... by this extended "
        "regular expression, in which \\t is a tab"),
    ROW("header", 0, ":", CHOICE, AT(header), RUNS, SWEEP,
        "the first line or value has the name, or the names of the columns, "
        "as with --csv"),
    ROW("quote", 0, NULL, FLAG, AT(sweep.quote), RUNS, SWEEP,
        "quote the words of COMMAND for the shell, so that it sees them as "
        "they are"),
    ROW("link", 0, NULL, FLAG, AT(sweep.link), RUNS, SWEEP,
        "take one value of each list per task, not all combinations; shorter "
        "lists start over"),
    ROW("max-args", 'n', "N", TEXT, AT(max_args), RUNS, SWEEP,
        "put N values into each command: {} is all of them, {1} the first; 0: "
        "a task for each value, which {} leaves out"),
    ROW("max-replace-args", 'N', "N", TEXT, AT(max_args), RUNS, SWEEP,
        "the same"),
    ROW("null", '0', NULL, FLAG, AT(sweep.null), RUNS, SWEEP,
        "a NUL ends each value of a file, not a newline"),
    ROW("tasks", 0, "N|FILE", TEXT, AT(tasks), PLAN, PLAN,
        "number of tasks in the bag, or the bag or workflow itself, for its "
        "dependencies"),
    ROW("runtime", 0, "LIST", TEXT, AT(runtime), PLAN, PLAN,
        "mean runtime of a task on each cluster, as in slow=15m,fast=3.75m "
        "(default: 'expected' in the clusters file, as a guess)"),
    ROW("failed", 0, NULL, FLAG, AT(failed), TASKS, TASKS,
        "only failed tasks"),
    ROW("slowest", 0, "N", COUNT, AT(slowest), TASKS, TASKS,
        "the N slowest tasks, the slowest first"),
    ROW("sizes", 0, NULL, FLAG, AT(sizes), TASKS, TASKS,
        "list classes instead of tasks: the memory that they requested and "
        "used, and what smaller requests would have saved"),
    ROW("state", 0, "pending|running|done|failed|skipped|removed", CHOICE,
        AT(state), TASKS, TASKS,
        "only tasks in this state (skipped: not run, because a task that they "
        "wait for was not done or because their workflow has no money left; "
        "removed: no longer in the bag)"),
    ROW("machine", 0, "NAME", TEXT, AT(on_machine), LOG, TASKS,
        "only what happened on this machine, as in slow-3"),
    ROW("last", 0, "N", COUNT, AT(last), LOG, TASKS,
        "only the last N entries"),
    ROW("where", 0, "EXPRESSION", TEXT, AT(where), TASKS, TASKS,
        "only tasks for which this SQL expression is true, as in 'rate > "
        "0.1': the parameters of a sweep (p1, p2, ... if they have no names), "
        "and the columns of the view tasks in the record, such as wall_s and "
        "host"),
    ROW("partition", 'p', "LIST", TEXT, AT(partition), ALLOC, MONEY,
        "the partitions (queues) to buy jobs in, as in slow,fast; each is a "
        "cluster with a price of its own"),
    ROW("system", 0, "slurm|gridengine", CHOICE, AT(system), ALLOC, MONEY,
        "the batch system (default: the one that answers)"),
    ROW("unreliable", 0, "LIST", TEXT, AT(unreliable), ALLOC, PAPERS,
        "the partitions whose jobs may be lost, by preemption for instance: "
        "for --policy expert"),
    ROW("budget", 'b', "AMOUNT|account", BUDGET, AT(run.budget), ALLOC, MONEY,
        "never be billed more than AMOUNT, or than what Slurm reports as left "
        "in the account: all jobs together, those that wait counted as if "
        "they ran to their limit, and this one if it is a job itself "
        "(default: $BATS_BUDGET, else unlimited)"),
    ROW("window", 'w', "DURATION", PERIOD, AT(run.window), ALLOC, MONEY,
        "the longest time that a job works, less at the end of the bag; its "
        "time limit is 10 s more, with Slurm rounded up to minutes. A job is "
        "given back as soon as it has nothing to do (default: 10m at first, then what "
        "the tasks need, as far as the partition allows)"),
    ROW("nodes", 'N', "N", SMALL, AT(nodes), ALLOC, MONEY,
        "nodes of a job (default: 1)"),
    ROW("slots", 0, "N", SMALL, AT(slots), ALLOC, MONEY,
        "tasks at a time on each node of a job (default: 1)"),
    ROW("max-jobs", 0, "N", COUNT, AT(max_jobs), ALLOC, MONEY,
        "request at most N jobs at a time (with --unreliable, N of either "
        "kind); a job with a successor no longer counts (default: 8)"),
    ROW("time-min", 0, "DURATION", PERIOD, AT(least), ALLOC, MONEY,
        "let Slurm give a job less time, but no less than this, if it can "
        "start sooner then; Grid Engine gives the whole time"),
    ROW("account", 'A', "NAME", TEXT, AT(account), ALLOC, MONEY,
        "the account that pays (default: the user's)"),
    ROW("sbatch", 0, "OPTIONS", TEXT, AT(sbatch), ALLOC, MONEY,
        "further options for sbatch, or qsub of Grid Engine, separated by "
        "blanks, as in '--qos=low --mem=4G'"),
    ROW("poll", 0, "DURATION", PERIOD, AT(poll), ALLOC, RUN,
        "ask the batch system about all jobs at once, at most this often "
        "(default: 10s)"),
    ROW("guarantee", 0, "lease|node|limit", CHOICE, AT(guarantee), ALLOC,
        MONEY,
        "the money held for a job, so that the budget is kept. lease: for a "
        "short time, which the run prolongs and without which the job ends "
        "itself; node: also for what Slurm bills until it notices that a "
        "node hangs; limit: for the whole time limit (default: lease)"),
    ROW("policy", 0, "bats|rr|expert", CHOICE, AT(policy), ALLOC, PAPERS,
        "bats: ask for the jobs that end the bag soonest within the budget; "
        "rr: for as many as there are tasks and money for; expert: for jobs "
        "of the partitions in --unreliable, and of the others only for the "
        "last tasks, by --strategy or --utility (default: bats)"),
    ROW("dry-run", 'n', NULL, FLAG, AT(dry_run), ALLOC, RUN,
        "show what jobs cost, and the first ones as they would be submitted; "
        "start nothing"),
    ROW("clusters", 'c', "FILE", TEXT, AT(clusters), PLAN, MONEY,
        "the clusters and their charges"),
    ROW("clusters", 'c', "FILE", TEXT, AT(clusters), RUNS | CLUSTERS, MONEY,
        "the clusters and their charges (default: those found, as 'bats-mpi "
        "clusters' shows them)"),
    ROW("machine", 0, "node|rank", CHOICE, AT(run.machine), RUNS | CLUSTERS,
        MONEY,
        "without a clusters file: the unit that is held and charged (default: "
        "node if the job holds whole nodes, else rank)"),
    ROW("budget", 'b', "AMOUNT|P%|account", BUDGET, AT(run.budget),
        RUNS | CLUSTERS, MONEY,
        "never be charged more than AMOUNT, or than what Slurm reports as "
        "left in the job's account, or, in a run with a profile, than P% of "
        "the way from the cost of the cheapest schedule (0%) to that of the "
        "fastest (100%) (default: $BATS_BUDGET, else the charge of all "
        "machines until the batch job ends, else unlimited)"),
    ROW("budget", 'b', "AMOUNT|P%", MONEY, AT(run.budget), PLAN, MONEY,
        "never be charged more than AMOUNT, or than P% of the way from the "
        "cost of the cheapest schedule (0%) to that of the fastest (100%) "
        "(default: $BATS_BUDGET, else unlimited)"),
    ROW("deadline", 0, "WHEN", DEADLINE, AT(deadline), RUNS | PLAN | ALLOC,
        MONEY,
        "have the bag done by then: a duration from the start (4h), a time "
        "(18:30, 2026-11-22T18:30) or, with a profile, a percentage of the "
        "way from the soonest end (0%) to that of the cheapest schedule "
        "(100%)"),
    ROW("deadline", 0, "WHEN", DEADLINE, AT(deadline), SIMULATE, MONEY,
        "have the bag done by then: a duration from the start (4h), or a "
        "percentage of the way from the soonest end possible (0%) to the "
        "soonest for the least money (100%); overrides the scenario"),
    ROW("minimize", 0, "cost|time", CHOICE, AT(minimize),
        RUNS | PLAN | SIMULATE, MONEY,
        "cost: end by the deadline for as little money as possible; time: end "
        "as soon as the budget allows, and say if that is too late (default: "
        "cost with --deadline, else time)"),
    ROW("minimize", 0, "cost|time", CHOICE, AT(minimize), ALLOC, MONEY,
        "cost: spend as little as possible, by the deadline if there is one; "
        "time: end as soon as the budget allows (default: cost with "
        "--deadline, else time)"),
    ROW("choose", 0, "SCHEDULE", TEXT, AT(choose), RUN, MONEY,
        "sample first, show the schedules on offer and run this one: "
        "cheapest, cheaper, balanced, faster, fastest (default "
        "without --budget and --deadline: start all machines, show the "
        "schedules during the run)"),
    ROW("profile", 0, "FILE", TEXT, AT(profile), RUN, MONEY,
        "continue from the sample that 'bats-mpi sample' kept in FILE, with "
        "--choose, --budget or --deadline; no task runs twice"),
    ROW("cushion", 0, NULL, FLAG, AT(cushion), RUN, PAPERS,
        "with --policy bkp: also allow the cushion listed with the chosen "
        "schedule, for the last tasks"),
    ROW("save", 0, "FILE", TEXT, AT(save), SAMPLE, MONEY,
        "write the results to FILE (default: BAG.profile)"),
    ROW("save", 0, "FILE", TEXT, AT(save), RUN, MONEY,
        "when the run ends write what it has learned to FILE: a profile for "
        "'bats-mpi plan' and, if clusters are unreliable, 'frontier'"),
    ROW("sample-on", 0, "N", SMALL, AT(sample_on), RUNS, MONEY,
        "take the sample on N slots of the cheapest cluster, and on at least "
        "one slot of every other cluster, for no more money in total (bkp: on "
        "N slots of every cluster; default: 7, and all slots that cost "
        "nothing)"),
    ROW("confidence", 0, "P", LEVEL, AT(confidence), RUNS | PLAN, MONEY,
        "confidence level of the bounds on mean, deviation and makespan, 0.5 "
        "to 0.9999 (default: 0.9; an upper bound then holds with at least 3P "
        "- 2)"),
    ROW("window", 'w', "DURATION", PERIOD, AT(run.window),
        RUNS | PLAN | CLUSTERS, MONEY,
        "length of a charged window (default: from the clusters file, else "
        "60m)"),
    ROW("policy", 0,
        "bats|bkp|rr|dbc-cost|dbc-time|dbc-conservative-time|dbc-cost-time|"
        "expert|miser|mw-dbs|flow",
        CHOICE, AT(policy), RUNS | PLAN, PAPERS,
        "bats: buy the machine-windows that end the bag soonest within the "
        "budget; bkp: sample, then hold one configuration, as in the papers; "
        "rr: use all machines for as long as the budget lasts; dbc-cost, "
        "dbc-time, dbc-conservative-time, dbc-cost-time: the least cost, or "
        "time, within deadline and budget, as in the papers on grids; expert: "
        "replicate the last tasks on machines that may not answer, by "
        "--strategy; miser, mw-dbs, flow: place each task of a workflow "
        "within budget and deadline, where use is charged (default: bats; "
        "expert where a cluster is unreliable and use is charged)"),
    ROW("strategy", 0, "STRATEGY", TEXT, AT(strategy), RUN | ALLOC, PAPERS,
        "of --policy expert: N=3,T=1x,D=2x,Mr=0.02 (N instances in the "
        "unreliable pool, one every T, given up after D, T and D as multiples "
        "of the mean runtime or as durations; then one in the reliable pool, "
        "of which Mr times the other's size is used), or AR, TRR, TR, AUR, "
        "B=AMOUNT, CNinf, CN1T0 (default: by --utility)"),
    ROW("utility", 0, "EXPRESSION", TEXT, AT(utility), RUN | ALLOC, PAPERS,
        "with --policy expert: when fewer tasks are left than there are "
        "unreliable machines, choose the strategy for which this is least, "
        "within budget and deadline: cheapest, fastest, product (makespan x "
        "cost), or arithmetic as in 'bats-mpi frontier --help'; again when "
        "reliability changes (default: product). "
        "--profile FILE begins with what FILE tells of unreliable machines "
        "(run --save, frontier --save), of any bag"),
    ROW("tail", 0, "none|random|stochastic|stochastic-random|migrate|soonest",
        CHOICE, AT(tail), RUNS | ALLOC, PAPERS,
        "how paid but idle machines replicate the last running tasks; the "
        "first replica to succeed gives the result. random: any task of a "
        "slower machine; stochastic: the task expected to end last, if the "
        "replica is expected to end first; migrate: as stochastic, but first "
        "take over tasks from slower machines; soonest: as stochastic, else "
        "any task of a slower machine, and again what runs suspiciously long "
        "(default: soonest)"),
    ROW("jobs", 'j', "N", TEXT, AT(workers), RUNS | CLUSTERS, RUN,
        "without a launcher (srun, mpirun): start N workers on this machine; "
        "+N, -N: that many more or fewer than cores; N%: of the cores; 0: as "
        "many as possible, 250 (default: 1)"),
    ROW("open", 0, NULL, FLAG, AT(open), RUN | ALLOC, RUN,
        "fill the bag while it runs: DRIVER, which is started, and others "
        "that have BATS_SOCKET add tasks. The run ends when all tasks are "
        "done and the driver has ended or, without a driver, after 'bats-mpi "
        "close' or --idle"),
    ROW("idle", 0, "DURATION", PERIOD, AT(idle), RUN | ALLOC, RUN,
        "with --open, without a driver: end when there was no task for this "
        "long"),
    ROW("expect", 0, "N", COUNT, AT(in_all), RUN | ALLOC, RUN,
        "with --open: N tasks are expected in all (default: unknown)"),
    ROW("no-replicate", 0, NULL, FLAG, AT(no_replicate), RUNS | ALLOC, RUN,
        "never run a task twice at the same time, as if every command began "
        "with '@once'; the same as --tail none"),
    ROW("monitor", 0, "DURATION", PERIOD, AT(run.engine.monitor_interval),
        RUNS | ALLOC, MONEY,
        "time between two checks of the plan against reality (default: a "
        "twelfth of the window)"),
    ROW("seed", 0, "N", COUNT, AT(run.engine.seed), RUNS | ALLOC, RUN,
        "seed of the order in which tasks are drawn (default: random, and "
        "shown so that the run can be repeated)"),
    ROW("seed", 0, "N", COUNT, AT(run.engine.seed), SIMULATE, RUN,
        "only this seed; overrides the scenario"),
    ROW("budget", 'b', "AMOUNT", MONEY, AT(run.budget), FRONTIER, MONEY,
        "mark the fastest strategy that costs no more"),
    ROW("deadline", 0, "DURATION", DEADLINE, AT(deadline), FRONTIER, MONEY,
        "mark the cheapest strategy that takes no longer"),
    ROW("utility", 0, "EXPRESSION", TEXT, AT(utility), FRONTIER, MONEY,
        "mark the strategy for which this is least: arithmetic with makespan "
        "and tail in seconds, cost, task_cost, min(a, b), max(a, b), sqrt(a), "
        "log(a), < and >, as in 'cost + 5 * (makespan > 3600)'"),
    ROW("strategy", 0, "STRATEGY", TEXT, AT(strategy), FRONTIER, MONEY,
        "also play this strategy, written as for 'bats-mpi run'"),
    ROW("online", 0, NULL, FLAG, AT(online), FRONTIER, MONEY,
        "from a record, use only what was known when the tail began"),
    ROW("plays", 0, "N", SMALL, AT(plays), FRONTIER, RUN,
        "plays of each strategy (default: 100)"),
    ROW("seed", 0, "N", COUNT, AT(run.engine.seed), FRONTIER, RUN,
        "seed of the plays (default: 1)"),
    ROW("save", 0, "FILE", TEXT, AT(save), FRONTIER, OUTPUT,
        "write the pools to FILE"),
    ROW("trace", 0, NULL, FLAG, AT(trace), SIMULATE, OUTPUT,
        "show the runs of the first seed (or of --seed) event by event, "
        "instead of all results"),
    ROW("jobs", 'j', "N", SMALL, AT(jobs), COMPUTES, RUN,
        "compute on N threads; the results do not depend on N (default: 0, "
        "one per core)"),
    ROW("order", 0, "file|random|longest", CHOICE, AT(order), RUNS | ALLOC,
        RUN,
        "begin tasks in the order of the bag, in random order, or the longest "
        "first, by what the bag says (#BATS time, a workflow's runtimes) or "
        "by what they took in the earlier run whose record is there (default: "
        "random where a budget, a deadline or schedules need a fair sample of "
        "the bag, else file)"),
    ROW("shuf", 0, NULL, FLAG, AT(shuffle), RUNS | ALLOC, RUN,
        "the same as --order random"),
    ROW("master-works", 0, NULL, FLAG, AT(run.master_works), RUNS | CLUSTERS,
        RUN, "let rank 0 run tasks too"),
    ROW("bind", 0, "none|core|numa", CHOICE, AT(bind), RUNS | ALLOC, RUN,
        "bind tasks to the cores of their rank, or to the NUMA nodes of those "
        "cores, and set OMP_NUM_THREADS to match; none: keep the launcher's "
        "binding (default: core)"),
    ROW("cores", 0, "N", SMALL, AT(run.need.cores), RUN | ALLOC | PLAN, RUN,
        "the cores (ranks of one node) that each task needs, unless the bag "
        "sets its own (#BATS cores=N). It is bound to all of them, and "
        "OMP_NUM_THREADS is set to match (default: 1)"),
    ROW("cpus", 0, "N", SMALL, AT(run.need.cores), RUN | ALLOC | PLAN, RUN,
        "the same as --cores"),
    ROW("memory", 0, "SIZE", SIZE, AT(memory), RUNS | ALLOC | PLAN, RUN,
        "the memory that each task needs (suffixes K, M, G), unless the bag "
        "sets its own (#BATS memory=SIZE): tasks that run on a node at the "
        "same time need no more than it has. The report compares it with "
        "what was used (default: what the batch job requested per task, for "
        "the report only)"),
    ROW("memory-limit", 0, NULL, FLAG, AT(run.limits_memory), RUNS | ALLOC,
        RUN,
        "kill a task whose processes hold more memory than it needs (checked "
        "every second), and count it as failed (out of memory)"),
    ROW("gpus", 0, "N", SMALL, AT(run.need.gpus), RUN | ALLOC | PLAN, RUN,
        "the GPUs that each task needs, unless the bag sets its own (#BATS "
        "gpus=N). CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES name the "
        "GPUs of the task (default: 0)"),
    ROW("gpus-per-node", 0, "N", SMALL, AT(run.gpus_per_node), RUN | ALLOC,
        RUN,
        "the GPUs of each node, numbered from 0 (default: those that "
        "CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES names where the ranks "
        "start)"),
    ROW("wd", 0, "DIR", TEXT, AT(run.workdir), RUNS | ALLOC, RUN,
        "the directory in which tasks run (default: this one)"),
    ROW("env", 0, "NAME,...", ENV, 0, RUNS | ALLOC, RUN,
        "make sure that these variables or functions are exported; tasks have "
        "the whole environment in any case"),
    ROW("nice", 0, "N", SMALL, AT(run.nice), RUNS | ALLOC, RUN,
        "the niceness of tasks, 0 to 19 (default: 0)"),
    ROW("memfree", 0, "SIZE", SIZE, AT(run.memfree), RUNS | ALLOC, RUN,
        "start a task on a node only while this much memory is free there "
        "(suffixes K, M, G)"),
    ROW("delay", 0, "DURATION", DURATION, AT(run.delay_us), RUNS | ALLOC, RUN,
        "time between the starts of two tasks (default: 0)"),
    ROW("grace", 0, "DURATION", DURATION, AT(grace), RUNS | ALLOC, RUN,
        "time between TERM and KILL for a task that has to stop (default: "
        "5s)"),
    ROW("time-limit", 0, "DURATION", PERIOD, AT(run.engine.rules.time_limit),
        RUNS | ALLOC, FAULT,
        "end the run after this time; start no task that is expected to end "
        "later (default: shortly before the Slurm job ends)"),
    ROW("retries", 0, "N", SMALL, AT(retries), RUNS | ALLOC, FAULT,
        "run a task that fails up to N times in all, on another machine if "
        "there is one (default: 1)"),
    ROW("retry-delay", 0, "DURATION", DURATION,
        AT(run.engine.rules.retry_delay), RUNS | ALLOC, FAULT,
        "time to wait before running a failed task again (default: 0)"),
    ROW("timeout", 0, "DURATION|N%", TIMEOUT, AT(run.engine.rules),
        RUNS | ALLOC, FAULT,
        "stop a task that runs for longer, or for longer than N% of the "
        "median on its cluster, and count it as failed"),
    ROW("retry-memory", 0, "FACTOR", MORE, AT(run.retry_memory),
        RUNS | ALLOC | PLAN, FAULT,
        "try a task that ran out of memory again with FACTOR times as much, "
        "repeatedly, up to the memory of a node. This does not count as one "
        "of --retries"),
    ROW("retry-time", 0, "FACTOR", MORE, AT(run.engine.rules.retry_time),
        RUNS | ALLOC, FAULT,
        "try a task that --timeout has stopped again with FACTOR times as "
        "much time, up to 5 times. This does not count as one of --retries"),
    ROW("halt", 0, "WHEN", HALT, AT(run.engine.rules), RUNS | ALLOC, FAULT,
        "never; soon,fail=N: start no more tasks after N have failed; "
        "now,fail=N: also stop the running ones; fail=N%: when N% of the "
        "ended tasks, and at least three, have failed (default: never)"),
    ROW("silence", 0, "DURATION", PERIOD, AT(run.silence_us), WORKER, FAULT,
        "a rank that has not heard of rank 0 for this long stops its task and "
        "exits (default: 60s); for rank 0, the run that it joins says how "
        "long to wait for the master"),
    ROW("silence", 0, "DURATION", PERIOD, AT(run.silence_us), RUNS | ALLOC,
        FAULT,
        "a worker that is silent for this long is lost, and its tasks run "
        "elsewhere; if rank 0 is silent for this long, every worker stops its "
        "task and exits; a busy rank sends a sign of life six times as often, "
        "or every 5s (default: 60s)"),
    ROW("time-scale", 0, "S", SCALE, AT(run.time_scale), RUNS, RUN,
        "emulation: let each real second count as S seconds of virtual time, "
        "0.000001 to 1000000 (default: 1)"),
    ROW("record", 0, "FILE", TEXT, AT(record), RUNS | ALLOC, RUN,
        "keep the run's record in FILE (default: BAG.bats; without a file of "
        "tasks, the name of --joblog and .bats)"),
    ROW("history", 0, "FILE", TEXT, AT(history), RUNS | ALLOC | PLAN | HISTORY,
        RUN,
        "the file with the runtimes of earlier bags (default: $BATS_HISTORY, "
        "else bats-mpi/history.db in $XDG_STATE_HOME or ~/.local/state; none "
        "with --time-scale)"),
    ROW("history", 0, "FILE", TEXT, AT(history), SIMULATE, RUN,
        "let the policy bats use the runtimes of earlier bags in FILE: those "
        "of the class in [bag], on clusters of the same names"),
    ROW("no-history", 0, NULL, FLAG, AT(no_history), RUNS | ALLOC | PLAN, RUN,
        "neither ask the history nor add to it"),
    ROW("cluster", 0, "NAME", TEXT, AT(cluster), HISTORY, RUN,
        "import: the cluster that the tasks of a joblog ran on (default: the "
        "host's name without its number)"),
    ROW("no-record", 0, NULL, FLAG, AT(no_record), RUNS | ALLOC, RUN,
        "keep no record: the run cannot be resumed"),
    ROW("record-sync", 0, "DURATION[,N]", SYNC, AT(run.sync_us), RUNS | ALLOC,
        RUN,
        "write the record to disk at least this often, and at least every N "
        "events; charges are written at once. 0: write before any task is "
        "started (default: 100ms,1000)"),
    ROW("resume", 0, NULL, FLAG, AT(resume), RUNS | ALLOC, RUN,
        "continue where the record ends; start afresh if there is none"),
    ROW("resume-failed", 0, NULL, FLAG, AT(resume_failed), RUN | ALLOC, RUN,
        "as --resume, and run failed tasks again"),
    ROW("retry-failed", 0, NULL, FLAG, AT(retry_failed), RUN | ALLOC, RUN,
        "run the failed tasks of the record again, and no others"),
    ROW("welcome", 0, "FILE", TEXT, AT(welcome), RUN, RUN,
        "run the tasks on worker jobs, which may join at any time: FILE tells "
        "'bats-mpi worker --join FILE' how to; needs --clusters, with max for "
        "each cluster, and no launcher"),
    ROW("host", 0, "NAME", TEXT, AT(host), RUN | ALLOC, RUN,
        "the name or address of this host, for worker jobs (default: its host "
        "name)"),
    ROW("port", 0, "N", COUNT, AT(port), RUN | ALLOC, RUN,
        "the port for worker jobs (default: any that is free)"),
    ROW("join", 0, "FILE", TEXT, AT(join), WORKER, RUN,
        "the file that the run has written; only you may read it"),
    ROW("job", 0, "ID", TEXT, AT(job), WORKER, RUN,
        "the number of this job (default: that of the batch job, else from "
        "host and process)"),
    ROW("dry-run", 0, NULL, FLAG, AT(dry_run), RUN, RUN,
        "show which tasks would run, where and at what charge; start nothing"),
    ROW("task", 't', "LIST", LIST, AT(task), OUTPUT, SELECT,
        "only these tasks, as in 7 or 7,10-12; counted from 1, as in "
        "BATS_TASK_ID; may be given several times"),
    ROW("failed", 'f', NULL, FLAG, AT(failed), OUTPUT, SELECT,
        "only tasks that failed; how each failed goes to standard error"),
    ROW("all", 'a', NULL, FLAG, AT(all), OUTPUT, SELECT,
        "all tasks that have ended (the default)"),
    ROW("stderr", 'e', NULL, FLAG, AT(err), OUTPUT, OUTPUT,
        "print their standard error instead of their standard output"),
    ROW("output", 'o', "lines|stream[:DIR]|none", OUTPUT, AT(output),
        RUNS | ALLOC, OUTPUT,
        "where the output of tasks goes. lines: shown here, whole lines at a "
        "time; stream: kept in DIR, in one file per worker instead of one per "
        "task, for 'bats-mpi output' (default DIR: BAG.out); none: dropped "
        "(default: lines)"),
    ROW("max-output", 0, "SIZE", SIZE, AT(run.max_output), RUNS | ALLOC,
        OUTPUT,
        "keep at most SIZE bytes (suffixes K, M, G: powers of 1024) of each "
        "task's standard output, and of its standard error; a line marks the "
        "cut"),
    ROW("keep-order", 'k', NULL, FLAG, AT(keep_order), RUNS | ALLOC, OUTPUT,
        "show the output of tasks in the order of the bag: that of a task "
        "waits in a temporary file until those before it have ended"),
    ROW("tag", 0, NULL, FLAG, AT(tag), RUNS | ALLOC | OUTPUT, OUTPUT,
        "put the number of its task and a tab in front of each line of "
        "output"),
    ROW("tagstring", 0, "TEXT", TEXT, AT(tagstring), RUNS | ALLOC, OUTPUT,
        "put this text and a tab in front instead; it may have replacement "
        "strings, as in '{1} {#}'"),
    ROW("results", 0, "DIR", TEXT, AT(results), RUNS | ALLOC, OUTPUT,
        "write output to DIR/<task>/stdout and stderr instead; or, if DIR has "
        "replacement strings, as in 'out/{1}', to those files in it"),
    ROW("joblog", 0, "FILE", TEXT, AT(joblog), RUNS | ALLOC, OUTPUT,
        "log each task that ended, in GNU parallel's format"),
    ROW("json", 0, "FILE", TEXT, AT(json_file), RUNS | ALLOC, OUTPUT,
        "also write the closing report as JSON (-: standard output)"),
    ROW("sbatch", 0, "SCHEDULE", TEXT, AT(sbatch), PLAN, OUTPUT,
        "print a Slurm job script for this schedule, given by its name, or "
        "best: for the one that suits --budget and --deadline"),
    ROW("frontier", 0, NULL, FLAG, AT(frontier), PLAN, OUTPUT,
        "list all schedules that no other one beats in both cost and end"),
    ROW("points", 0, NULL, FLAG, AT(points), PLAN, OUTPUT,
        "instead list the expected runtime and cost of each task on each "
        "cluster, by the history; for a sweep, by its numeric parameters "
        "where these explain runtimes"),
    ROW("csv", 0, NULL, FLAG, AT(csv), PLAN | COMPUTES | TASKS, OUTPUT,
        "print comma-separated values (plan: with --frontier)"),
    ROW("json", 0, NULL, FLAG, AT(json), OBJECT, OUTPUT, "answer in JSON"),
    ROW("json", 0, NULL, FLAG, AT(json), LINES, OUTPUT,
        "print JSON, one object per line"),
    ROW("once", 0, NULL, FLAG, AT(once), TOP, OUTPUT,
        "print the current state once, without a terminal"),
    ROW("html", 0, "FILE", TEXT, AT(html), PLAN | COMPUTES, OUTPUT,
        "write a page for the browser instead (-: standard output)"),
    ROW("out", 'o', "FILE", TEXT, AT(out), REPORT, OUTPUT,
        "write the page there (-: standard output; default: the name of the "
        "bag and .html)"),
    ROW("wfformat", 0, NULL, FLAG, AT(wfformat), EXPORT, OUTPUT,
        "as WfFormat 1.5 (JSON) of WfCommons"),
    ROW("out", 'o', "FILE", TEXT, AT(out), EXPORT, OUTPUT,
        "write it there (default: standard output)"),
    ROW("left", 0, NULL, FLAG, AT(left), STATUS, OUTPUT,
        "print only the number of tasks without a result, which --resume "
        "would run; 0 if none is left"),
    ROW("save", 0, "FILE", TEXT, AT(save), CLUSTERS, OUTPUT,
        "write the clusters found as a file for --clusters"),
    ROW("ranks", 0, NULL, FLAG, AT(ranks), CLUSTERS, OUTPUT,
        "also list the ranks, with their nodes and cores"),
    ROW("progress", 0, NULL, FLAG, AT(progress), RUNS | ALLOC, OUTPUT,
        "redraw one progress line even if no terminal is detected (under "
        "srun)"),
    ROW("eta", 0, NULL, FLAG, AT(progress), RUNS | ALLOC, OUTPUT, "the same"),
    ROW("bar", 0, NULL, FLAG, AT(bar), RUNS | ALLOC, OUTPUT,
        "the same, with a bar"),
    ROW("verbose", 0, NULL, FLAG, AT(verbose), RUNS | ALLOC, OUTPUT,
        "announce the start and the plans, and end with the bill, also where "
        "--jobs starts a run that costs nothing"),
    ROW("quiet", 'q', NULL, FLAG, AT(quiet), RUNS | ALLOC, OUTPUT,
        "no progress, no closing report: only errors"),
    ROW("help", 'h', NULL, FLAG, AT(help), ALL, OUTPUT, "show this help"),
};

const size_t bats_options_n = sizeof bats_options / sizeof bats_options[0];
