#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "util/similar.h"
#include "util/text.h"

/* clang-format off */
#define ROW(verb, name, min, max, missing, purpose, synopsis, more)           \
    [BATS_VERB_##verb] = {name, min, max, missing, purpose, synopsis, more}
/* clang-format on */

#define NO_BAG "the bag of tasks is missing"
#define NO_RECORD "the record of the run is missing"

const struct bats_verb_row bats_verbs[BATS_VERBS] = {
    ROW(RUN, "run", 1, 1, NO_BAG, "run a bag of tasks within a budget",
        "bats-mpi [run] [OPTION...] BAG\n"
        "       bats-mpi [run] [OPTION...] WORKFLOW [budget=AMOUNT]... "
        "WORKFLOW...\n"
        "       bats-mpi [run] [OPTION...] -- COMMAND [::: VALUE...]...",
        "Runs every line of the file BAG (-: standard input) as a shell "
        "command on the MPI ranks it was started on, or with -j on this "
        "machine. Rank 0 hands out the tasks; the other ranks execute them. "
        "In the second form several workflows (files of Makeflow, WfFormat or "
        "DAX) share the machines. Behind a file stand its own budget and, if "
        "it has them, deadline=DURATION and begin=DURATION; the record is "
        "that of the first file. The third form is a sweep: COMMAND with the "
        "values of each point in the place of its replacement strings, as in "
        "GNU parallel. '::: VALUE...' gives values, ':::: FILE...' the lines "
        "of files (-: standard input); with several of these, all "
        "combinations are run, and ':::+' and '::::+' go along with the one "
        "before. {} is all values, {2}, {-1} and {name} are one; {.}, {/}, "
        "{//} and {/.} (and {2.} and so on) are without extension, without "
        "directory, the directory, and without both; {#} is the number of the "
        "task, {%} that of the slot. Values are quoted for the shell. A BAG "
        "that ends with .pln is a plan file of Nimrod."),
    ROW(ALLOC, "alloc", 1, 1, NO_BAG,
        "run a bag on machines that are bought as jobs of their own",
        "bats-mpi alloc [OPTION...] --partition LIST BAG",
        "Runs the bag on machines that are bought from Slurm or Grid Engine as "
        "jobs of their own, and given back as soon as they are not needed. "
        "Runs anywhere where sbatch or qsub does, without a launcher: on a "
        "login node, or in a job of one core. What a job may cost is held "
        "from before it is submitted until it is billed, so that the budget "
        "is kept whatever the queue does. --resume takes over jobs "
        "that still wait. See src/doc/alloc.md."),
    ROW(SAMPLE, "sample", 1, 1, NO_BAG,
        "run a few tasks and show what the bag will cost",
        "bats-mpi sample [OPTION...] BAG",
        "Runs a few tasks of the bag on every cluster. Then shows the "
        "schedules for the rest, from the cheapest to the fastest, with their "
        "costs and bounds, and keeps what it has learned as a profile. The "
        "machines keep working until the windows that are paid for end. "
        "'bats-mpi plan' shows the schedules again for other budgets, and "
        "'bats-mpi run BAG --profile FILE --choose SCHEDULE' continues with "
        "one."),
    ROW(PLAN, "plan", 0, 1, "",
        "list the schedules for a bag, without running anything",
        "bats-mpi plan [OPTION...] PROFILE\n"
        "       bats-mpi plan [OPTION...] BAG --clusters FILE\n"
        "       bats-mpi plan --tasks N|FILE [--runtime LIST] --clusters FILE "
        "[OPTION...]",
        "Shows the schedules for a bag, from the cheapest to the fastest, "
        "with machines, windows, costs and bounds (for a job that is billed "
        "for all that it holds: machines); with --budget or --deadline, also "
        "the best one within it. Runs nothing and needs no MPI launcher. "
        "PROFILE is the file that a sampling phase has written; its clusters "
        "keep the charges and limits they had then, unless --clusters gives "
        "others. Of a BAG the history says what its tasks take, unless "
        "--runtime does. A machine runs as many tasks at a time as fit in what "
        "its cluster in the file has (slots = N with machine = node, memory, "
        "gpus); without slots, one. If the budget or the deadline cannot be met, the "
        "closest schedule is shown, and the exit code is 4 or 5."),
    ROW(SIMULATE, "simulate", 1, 1, "the scenario is missing",
        "predict the cost and the end of a bag, for many seeds",
        "bats-mpi simulate [OPTION...] SCENARIO",
        "Simulates a bag on a platform, both described in the INI file "
        "SCENARIO, with the scheduler of a real run, once for each seed, "
        "policy and budget. Runs nothing and needs no MPI launcher. The man "
        "page describes the file under SCENARIO."),
    ROW(FRONTIER, "frontier", 1, 1,
        "the scenario, record or file of pools is missing",
        "compare strategies of replication on machines that may not answer",
        "bats-mpi frontier [OPTION...] PROFILE|SCENARIO|RECORD",
        "Shows the strategies of the policy expert that no other one beats in "
        "makespan and cost, on clusters with reliable = no beside others, and "
        "which is best for what. The pools are those of a scenario, or what "
        "the record of an earlier run tells of them, which a profile "
        "('bats-mpi sample', 'run --save') and --save keep. Runs nothing and "
        "needs no MPI launcher."),
    ROW(CLUSTERS, "clusters", 0, 0, "",
        "show the machines, their charges, and the source of each figure",
        "bats-mpi clusters [OPTION...]",
        "Shows what a run on the MPI ranks it was started on would work with: "
        "which ranks form which machines, their charges, the budget and the "
        "time left, and the source of each figure. Runs nothing."),
    ROW(OUTPUT, "output", 1, 1,
        "the run is missing: its bag, or the directory with its output",
        "print what the tasks of a run have written",
        "bats-mpi output [OPTION...] RUN",
        "Prints the output of the tasks of a run with --output stream, in the "
        "order of the bag, byte for byte. RUN is the bag, whose record knows "
        "the directory of the output, or that directory itself. If a task ran "
        "more than once, the output of the attempt that gave its result is "
        "shown. The exit code is 1 if requested output is missing or damaged."),
    ROW(WORKER, "worker", 0, 0, "",
        "run tasks for a run that was started elsewhere",
        "bats-mpi worker --join FILE [OPTION...]",
        "Lets the MPI ranks it was started on (without a launcher: this "
        "process) run tasks of a run that goes on elsewhere, until that run "
        "sends them away or has not been heard of for its --silence. FILE is "
        "written by the run. Rank 0 connects to it over TCP; both prove by "
        "MUNGE, or by a secret in FILE, that they belong to the same user. "
        "'bats-mpi alloc' starts such jobs by itself; 'bats-mpi run --welcome "
        "FILE' waits for those that you start."),
    ROW(STATUS, "status", 1, 1, NO_RECORD,
        "show how far a run is, and what it has cost",
        "bats-mpi status [OPTION...] RUN",
        "Shows how far a run is and what it has cost. RUN is the record of "
        "the run, or the bag if the record is beside it (bag.txt for "
        "bag.txt.bats). The run may be live; it is not disturbed."),
    ROW(TOP, "top", 1, 1, NO_RECORD, "watch a run that goes on",
        "bats-mpi top [OPTION...] RUN",
        "Watches a run that goes on: tasks, time and money; per cluster the "
        "machines held and in use, and what is decided at the next end of "
        "their windows; the tasks that run longest; failures. Reads a small "
        "file that the run replaces every 2 seconds beside its record "
        "(RECORD.live), so it works from any node that sees it. Keys: o "
        "overview, t tasks, f failures, d decisions, Tab the next of them, q "
        "quit. RUN as for status."),
    ROW(REPORT, "report", 1, 1, NO_RECORD,
        "write a run as a page for the browser",
        "bats-mpi report [OPTION...] RUN",
        "Writes a run as one HTML file that needs no network and no other "
        "file: what was charged and why, the machines held and in use, a "
        "chart of all tasks and windows, runtimes, failures by their causes. "
        "Copy it home and open it. RUN as for status; the run may be live."),
    ROW(EXPORT, "export", 1, 1, NO_RECORD,
        "write what a run has measured for other tools",
        "bats-mpi export --wfformat [OPTION...] RUN",
        "Writes what ran, with the times and machines that were measured, for "
        "other tools: tasks, who waited for whom, files, commands, runtimes, "
        "memory. Commands and times are those of tasks that are done; the "
        "names of tasks and files are those of the bag, if it is still beside "
        "its record and has the same commands. bats-mpi reads the file, too, "
        "to simulate it or to run it again. RUN as for status; the run may be "
        "live."),
    ROW(LOG, "log", 1, 1, NO_RECORD, "show what happened in a run, in order",
        "bats-mpi log [OPTION...] RUN",
        "Shows what happened in a run: machines that come and go, tasks, "
        "charges, decisions and their reasons. Times are virtual time since "
        "the session began. RUN as for status."),
    ROW(TASKS, "tasks", 1, 1, NO_RECORD,
        "list the tasks of a run, with their states",
        "bats-mpi tasks [OPTION...] RUN",
        "Lists the tasks of a run, with their states and runtimes. RUN as for "
        "status."),
    ROW(WHY, "why", 1, 3, NO_RECORD,
        "explain why a machine is parked or a task waits",
        "bats-mpi why [OPTION...] RUN [MACHINE | TASK]",
        "Explains why machines are parked or idle and why tasks wait; with "
        "the name of a machine (as in slow-3) tells what happened to it "
        "lately, with the number of a task all that happened to it. RUN as "
        "for status."),
    ROW(HISTORY, "history", 0, 2, "",
        "show what tasks took in earlier bags, forget it, or add to it",
        "bats-mpi history [list | forget KIND | export | import FILE] "
        "[OPTION...]",
        "The history has what tasks took in earlier bags, by kind and "
        "cluster: from it the next bag is planned. The kind of a task is its "
        "class (#BATS class=NAME), category or rule in a workflow, else its "
        "program with the names of its options; no arguments are kept. Every "
        "run adds to it. forget removes a kind, or 'all'. export writes it as "
        "JSON lines. import adds those of another history, the record of an "
        "earlier run, a joblog, or what 'sacct -P -o "
        "JobIDRaw,JobName,Partition,ElapsedRaw,State,End' prints; each run "
        "counts once."),
    ROW(RECORD, "record", 2, 3,
        "record needs 'verify' or 'recover', and the record of a run",
        "verify that a record agrees with itself, or recover a damaged one",
        "bats-mpi record {verify RUN | recover RUN [FILE]}",
        "verify compares the executions, charges and leases of a record with "
        "the states and sums that are kept beside them, and checks the file; "
        "the exit code is 1 if they do not agree. recover saves the readable "
        "part of a damaged record to FILE (default: RUN.recovered) and "
        "reports what is lost. The record itself is not changed; it may be in "
        "use by a run, and FILE is then a copy to query."),
};

bool bats_verb_runs(enum bats_verb verb)
{
    return verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE;
}

bool bats_verb_find(const char *word, enum bats_verb *verb)
{
    for (int i = 0; i < BATS_VERBS; i++) {
        if (strcmp(word, bats_verbs[i].name) == 0) {
            *verb = (enum bats_verb)i;
            return true;
        }
    }
    return false;
}

void bats_verb_suggest(const char *word, struct bats_error *err)
{
    struct bats_similar similar = bats_similar_to(word, strlen(word));
    for (int i = 0; i < BATS_VERBS; i++)
        bats_similar_try(&similar, bats_verbs[i].name);
    if (similar.name != NULL)
        bats_append(err->text, sizeof err->text,
                    "; did you mean 'bats-mpi %s'?", similar.name);
}

int bats_verb_words(enum bats_verb verb, int n, char **words,
                    struct bats_error *err)
{
    if (n < bats_verbs[verb].min && verb != BATS_VERB_RUN)
        return bats_refuse(err,
                           "%s (a bag called '%s' is run by the name ./%s)",
                           bats_verbs[verb].missing, bats_verbs[verb].name,
                           bats_verbs[verb].name);
    if (n < bats_verbs[verb].min)
        return bats_refuse(err, "%s", bats_verbs[verb].missing);
    if (n > bats_verbs[verb].max && verb == BATS_VERB_RUN) {
        bats_refuse(err, "'%s' is one argument too many: the bag is '%s'",
                    words[bats_verbs[verb].max], words[0]);
        bats_verb_suggest(words[0], err);
        return BATS_EINPUT;
    }
    if (n > bats_verbs[verb].max)
        return bats_refuse(err, "'%s' is one argument too many",
                           words[bats_verbs[verb].max]);
    return 0;
}
