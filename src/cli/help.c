#include "cli/help.h"

#include <string.h>

#include "cli/cli.h"
#include "report/assets.h"
#include "report/words.h"

#define WIDTH 80
#define COLUMN 26 /* where the text of an option begins */

static const char *const groups[BATS_GROUPS] = {
    [BATS_GROUP_PLAN] = "The bag",
    [BATS_GROUP_SWEEP] = "Sweeps",
    [BATS_GROUP_SELECT] = "Which tasks",
    [BATS_GROUP_TASKS] = "What is shown",
    [BATS_GROUP_MONEY] = "Money and machines",
    [BATS_GROUP_RUN] = "Running tasks",
    [BATS_GROUP_FAULT] = "When things go wrong",
    [BATS_GROUP_OUTPUT] = "Output",
    [BATS_GROUP_PAPERS] = "Other policies and tails, most of them from papers",
};

static const struct {
    const char *synopsis;
    const char *more; /* the text below the synopsis */
} usage[BATS_VERBS] = {
    [BATS_VERB_RUN] =
        {"bats-mpi [run] [OPTION...] BAG\n"
         "       bats-mpi [run] [OPTION...] WORKFLOW [budget=AMOUNT]... "
         "WORKFLOW...\n"
         "       bats-mpi [run] [OPTION...] -- COMMAND [::: VALUE...]...",
         "Runs every line of the file BAG (-: standard input) as a shell "
         "command on the MPI ranks it was started on, or with -j on this "
         "machine. Rank 0 hands out the tasks; the other ranks execute them. "
         "In the second form several workflows (files of Makeflow, WfFormat "
         "or DAX) share the machines. Behind a file stand its own budget and, "
         "if it has them, deadline=DURATION and begin=DURATION; the record is "
         "that of the first file. The third form is a sweep: COMMAND with the "
         "values of each point in the place of its replacement strings, as in "
         "GNU parallel. "
         "'::: VALUE...' gives values, ':::: FILE...' the lines of files (-: "
         "standard input); with several of these, all combinations are run, "
         "and ':::+' and '::::+' go along with the one before. {} is all "
         "values, {2}, {-1} and {name} are one; {.}, {/}, {//} and {/.} (and "
         "{2.} and so on) are without extension, without directory, the "
         "directory, and without both; {#} is the number of the task, {%} that "
         "of the slot. Values are quoted for the shell. A BAG that ends with "
         ".pln is a plan file of Nimrod."},
    [BATS_VERB_ALLOC] =
        {"bats-mpi alloc [OPTION...] --partition LIST BAG",
         "Runs the bag on machines that are bought from Slurm as jobs of their "
         "own, for a window each, and given back as soon as they are not "
         "needed. Runs anywhere where sbatch does, without a launcher: on a "
         "login node, or in a job of one core. What a job may cost is held from "
         "before it is submitted until Slurm has billed it, so that the budget "
         "is kept whatever the queue does. --resume takes over jobs that still "
         "wait. See src/doc/alloc.md."},
    [BATS_VERB_SAMPLE] =
        {"bats-mpi sample [OPTION...] BAG",
         "Runs a few tasks of the bag on every cluster. Then shows the "
         "schedules for the rest, from the cheapest to the fastest, with "
         "their costs and bounds, and keeps what it has learned as a "
         "profile. The machines keep working until the windows that are "
         "paid for end. 'bats-mpi plan' shows the schedules again for other "
         "budgets, and 'bats-mpi run BAG --profile FILE --choose SCHEDULE' "
         "continues with one."},
    [BATS_VERB_PLAN] =
        {"bats-mpi plan [OPTION...] PROFILE\n"
         "       bats-mpi plan [OPTION...] BAG --clusters FILE\n"
         "       bats-mpi plan --tasks N|FILE [--runtime LIST] --clusters FILE "
         "[OPTION...]",
         "Shows the schedules for a bag, from the cheapest to the fastest, "
         "with machines, windows, costs and bounds (for a job that is billed "
         "for all that it holds: machines); with --budget or --deadline, also "
         "the best one within it. Runs nothing and needs no MPI launcher. "
         "PROFILE is the file that a sampling phase has written; its "
         "clusters keep the charges and limits they had then, unless "
         "--clusters gives others. Of a BAG the history says what its tasks "
         "take, unless --runtime does. With --runtime, a machine is assumed to "
         "run one task at a time: with machine = node, divide the runtime "
         "by the number of ranks per node. If the budget or the deadline "
         "cannot be met, the closest schedule is shown, and the exit code "
         "is 4 or 5."},
    [BATS_VERB_SIMULATE] =
        {"bats-mpi simulate [OPTION...] SCENARIO",
         "Simulates a bag on a platform, both described in the INI file "
         "SCENARIO, with the scheduler of a real run, once for each seed, "
         "policy and budget. Runs nothing and needs no MPI launcher. The "
         "man page describes the file under SCENARIO."},
    [BATS_VERB_FRONTIER] =
        {"bats-mpi frontier [OPTION...] PROFILE|SCENARIO|RECORD",
         "Shows the strategies of the policy expert that no other one beats "
         "in makespan and cost, on clusters with reliable = no beside others, "
         "and which is best for what. The pools are those of a scenario, or "
         "what the record of an earlier run tells of them, which a profile "
         "('bats-mpi sample', 'run --save') and --save keep. Runs nothing and "
         "needs no MPI launcher."},
    [BATS_VERB_CLUSTERS] =
        {"bats-mpi clusters [OPTION...]",
         "Shows what a run on the MPI ranks it was started on would work "
         "with: which ranks form which machines, their charges, the budget "
         "and the time left, and the source of each figure. Runs nothing."},
    [BATS_VERB_OUTPUT] =
        {"bats-mpi output [OPTION...] RUN",
         "Prints the output of the tasks of a run with --output stream, in "
         "the order of the bag, byte for byte. RUN is the bag, whose record "
         "knows the directory of the output, or that directory itself. If a "
         "task ran more than once, the output of the attempt that gave its "
         "result is shown. The exit code is 1 if requested output is "
         "missing or damaged."},
    [BATS_VERB_WORKER] =
        {"bats-mpi worker --join FILE [OPTION...]",
         "Lets the MPI ranks it was started on (without a launcher: this "
         "process) run tasks of a run that goes on elsewhere, until that run "
         "sends them away or has not been heard of for its --silence. FILE is "
         "written by the run. Rank 0 connects to it over TCP; both prove by "
         "MUNGE, or by a secret in FILE, that they belong to the same user. "
         "'bats-mpi alloc' starts such jobs by itself; 'bats-mpi run "
         "--welcome FILE' waits for those that you start."},
    [BATS_VERB_STATUS] =
        {"bats-mpi status [OPTION...] RUN",
         "Shows how far a run is and what it has cost. RUN is the record of "
         "the run, or the bag if the record is beside it (bag.txt for "
         "bag.txt.bats). The run may be live; it is not disturbed."},
    [BATS_VERB_TOP] =
        {"bats-mpi top [OPTION...] RUN",
         "Watches a run that goes on: tasks, time and money; per cluster the "
         "machines held and in use, and what is decided at the next end of "
         "their windows; the tasks that run longest; failures. Reads a small "
         "file that the run replaces every 2 seconds beside its record "
         "(RECORD.live), so it works from any node that sees it. Keys: o "
         "overview, t tasks, f failures, d decisions, Tab the next of them, "
         "q quit. RUN as for status."},
    [BATS_VERB_REPORT] =
        {"bats-mpi report [OPTION...] RUN",
         "Writes a run as one HTML file that needs no network and no other "
         "file: what was charged and why, the machines held and in use, a "
         "chart of all tasks and windows, runtimes, failures by their causes. "
         "Copy it home and open it. RUN as for status; the run may be live."},
    [BATS_VERB_EXPORT] =
        {"bats-mpi export --wfformat [OPTION...] RUN",
         "Writes what ran, with the times and machines that were measured, "
         "for other tools: tasks, who waited for whom, files, commands, "
         "runtimes, memory. Commands and times are those of tasks that are "
         "done; the names of tasks and files are those of the bag, if it is "
         "still beside its record and has the same commands. bats-mpi reads "
         "the file, too, to simulate it or to run it again. RUN as for "
         "status; the run may be live."},
    [BATS_VERB_LOG] =
        {"bats-mpi log [OPTION...] RUN",
         "Shows what happened in a run: machines that come and go, tasks, "
         "charges, decisions and their reasons. Times are virtual time "
         "since the session began. RUN as for status."},
    [BATS_VERB_TASKS] =
        {"bats-mpi tasks [OPTION...] RUN",
         "Lists the tasks of a run, with their states and runtimes. RUN as "
         "for status."},
    [BATS_VERB_WHY] =
        {"bats-mpi why [OPTION...] RUN [MACHINE | TASK]",
         "Explains why machines are parked or idle and why tasks wait; with "
         "the name of a machine (as in slow-3) tells what happened to it "
         "lately, with the number of a task all that happened to it. RUN as for "
         "status."},
    [BATS_VERB_HISTORY] =
        {"bats-mpi history [list | forget KIND | export | import FILE] "
         "[OPTION...]",
         "The history has what tasks took in earlier bags, by kind and "
         "cluster: from it the next bag is planned. The kind of a task is its "
         "class (#BATS class=NAME), category or rule in a workflow, else its program with the names of "
         "its options; no arguments are kept. Every run adds to it. forget "
         "removes a kind, or 'all'. export writes it as JSON lines. "
         "import adds those of another history, the record of an earlier "
         "run, a joblog, or what 'sacct -P -o "
         "JobIDRaw,JobName,Partition,ElapsedRaw,State,End' prints; each run "
         "counts once."},
    [BATS_VERB_RECORD] =
        {"bats-mpi record {verify RUN | recover RUN [FILE]}",
         "verify compares the executions, charges and leases of a record with "
         "the states and sums that are kept beside them, and checks the "
         "file; the exit code is 1 if they do not agree. recover saves the readable part of a damaged "
         "record to FILE (default: RUN.recovered) and reports what is lost. "
         "The record itself is not changed; it may be in use by a run, and "
         "FILE is then a copy to query."},
};

static const struct {
    const char *command;
    const char *says;
} examples[] = {
    {"bats-mpi -j 8 bag.txt",
     "run every line of bag.txt with 8 workers on this machine"},
    {"srun -n 256 bats-mpi bag.txt",
     "the same, with 255 workers in a Slurm job"},
    {"srun -n 65 bats-mpi bag.txt --clusters clusters.ini --budget 600",
     "the same, on machines with different charges, for at most 600"},
    {"srun -n 256 bats-mpi bag.txt --output stream",
     "keep the output of all tasks, in two files per worker"},
    {"bats-mpi alloc bag.txt -p slow,fast --budget 600",
     "buy machines from Slurm as jobs, for at most 600 in all"},
    {"bats-mpi output bag.txt --failed --stderr",
     "print what the failed tasks wrote to standard error"},
    {"bats-mpi plan --tasks 1000 --runtime slow=15m,fast=4m -c clusters.ini",
     "show which machines to hold, and what they cost"},
    {"bats-mpi tasks --failed bag.txt",
     "list the tasks that failed, even while the run goes on"},
};

static const struct {
    const char *code;
    const char *meaning;
} exits[] = {
    {"0", "all tasks done"},
    {"1", "some tasks failed (or enough of them for --halt)"},
    {"2", "usage or bad input; nothing was run"},
    {"3", "the system failed"},
    {"4", "budget exhausted, tasks are left"},
    {"5",
     "time limit, SIGUSR1, or no task can meet the deadline; some are left"},
    {"130, 143", "stopped in order by SIGINT, SIGTERM"},
};

static const char failures[] =
    "A task that exits with status 85 has saved its state: it is run again and "
    "has not failed. If it does so within 10 seconds, it waits before it is "
    "run again, longer each time; at the sixth time in a row it has failed. A "
    "task whose machine is lost is run again, too. After SIGUSR1, rank 0 "
    "starts no more tasks, and ends the run when the running ones have ended "
    "(exit code 5).";

#define N(array) (sizeof(array) / sizeof *(array))

/* "  -b, --budget AMOUNT", into `text`. */
static void option_head(char *text, size_t size, const struct bats_option *o)
{
    char letter[8] = "    ";
    if (o->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(text, size, "  %s--%s%s%s", letter, o->name,
             o->argument != NULL ? " " : "",
             o->argument != NULL ? o->argument : "");
}

/* A long choice goes on in a second line. Returns the width of the last one. */
static int print_head(FILE *out, const char *head)
{
    int length = (int)strlen(head), cut = WIDTH;
    if (length <= WIDTH)
        return fprintf(out, "%s", head);
    while (head[cut - 1] != '|')
        cut--;
    fprintf(out, "%.*s\n", cut, head);
    return fprintf(out, "%*s%s", COLUMN / 2, "", head + cut);
}

static void print_option(FILE *out, const struct bats_option *o)
{
    char head[160]; /* a choice is shown whole */
    option_head(head, sizeof head, o);
    int used = print_head(out, head);
    if (used + 2 > COLUMN) {
        putc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", COLUMN - used, "");
    bats_words_wrap(out, o->help, COLUMN, COLUMN, WIDTH);
}

static void print_exits(FILE *out)
{
    fputs("\nExit codes:\n", out);
    for (size_t i = 0; i < N(exits); i++)
        fprintf(out, "  %-9s %s\n", exits[i].code, exits[i].meaning);
}

void bats_help_program(FILE *out)
{
    for (int v = 0; v < BATS_VERBS; v++)
        fprintf(out, "%s %s\n", v == 0 ? "Usage:" : "      ",
                usage[v].synopsis);
    fputs("       bats-mpi --help | --version\n\n", out);
    bats_words_wrap(out,
                    "Runs a bag of independent tasks on MPI ranks within a "
                    "budget: it learns how fast each cluster of machines "
                    "is, buys the windows that finish the bag soonest for "
                    "the money, and reports at the end what it cost.",
                    0, 0, WIDTH);
    fputs("\nVerbs:\n", out);
    for (int v = 0; v < BATS_VERBS; v++)
        fprintf(out, "  %-8s  %s\n", bats_verb_name((enum bats_verb)v),
                bats_verb_purpose((enum bats_verb)v));
    fputs("\nExamples:\n", out);
    for (size_t i = 0; i < N(examples); i++)
        fprintf(out, "  %s\n      %s\n", examples[i].command,
                examples[i].says);
    print_exits(out);
    fputs("\n'bats-mpi run --help' lists the options of a verb.\n", out);
}

void bats_help_verb(FILE *out, enum bats_verb verb)
{
    fprintf(out, "Usage: %s\n\n", usage[verb].synopsis);
    bats_words_wrap(out, usage[verb].more, 0, 0, WIDTH);
    for (int g = 0; g < BATS_GROUPS; g++) {
        bool first = true;
        for (size_t i = 0; i < bats_options_n; i++) {
            const struct bats_option *o = &bats_options[i];
            if ((int)o->group != g || !(o->verbs & 1u << verb))
                continue;
            if (first)
                fprintf(out, "\n%s:\n", groups[g]);
            first = false;
            print_option(out, o);
        }
    }
    fputs("\nDurations: 90 (seconds), 15m, 1h30m, 1-12:00:00. Amounts: "
          "600, 0.085.\n",
          out);
    if (verb == BATS_VERB_RUN) {
        putc('\n', out);
        bats_words_wrap(out, failures, 0, 0, WIDTH);
        fputs("\nExamples:\n", out);
        for (size_t i = 0; i < 2; i++)
            fprintf(out, "  %s\n", examples[i].command);
        print_exits(out);
    }
}

void bats_help_version(FILE *out, const char *library)
{
    fprintf(out,
            "bats-mpi " BATS_VERSION "\n"
            "%s\n"
            "Licence GPL-3.0-or-later: free software, without any warranty.\n",
            library);
}

/* ---- the man page ---- */

/* Writes text for roff, in which '-' is a minus only with a backslash, and a
 * line must not begin with a dot or a quote. */
static void roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '-' || *text == '\\')
            putc('\\', out);
        putc(*text == '\\' ? 'e' : *text, out);
    }
}

static void roff_line(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    roff(out, text);
    putc('\n', out);
}

static void roff_options(FILE *out, enum bats_verb verb)
{
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        if (!(o->verbs & 1u << verb))
            continue;
        fputs(".TP\n.B ", out);
        if (o->letter != 0)
            fprintf(out, "\\-%c, ", o->letter);
        roff(out, "--");
        roff(out, o->name);
        if (o->argument != NULL)
            fprintf(out, " \\fI%s\\fR", o->argument);
        putc('\n', out);
        roff_line(out, "", o->help);
    }
}

void bats_help_man(FILE *out)
{
    fputs(".TH BATS\\-MPI 1 \"\" \"bats\\-mpi " BATS_VERSION "\"\n"
          ".SH NAME\n"
          "bats\\-mpi \\- run a bag of tasks on MPI ranks within a budget\n"
          ".SH SYNOPSIS\n",
          out);
    for (int v = 0; v < BATS_VERBS; v++)
        roff_line(out, v == 0 ? "" : ".br\n", usage[v].synopsis);
    fputs(".SH DESCRIPTION\n", out);
    for (int v = 0; v < BATS_VERBS; v++)
        roff_line(out, v == 0 ? "" : ".PP\n", usage[v].more);
    fputs(
        ".PP\n"
        "Everything that a batch job holds is billed until it is given back: "
        "all its machines work, and the budget is a deadline. Where charges "
        "are given per window, "
        "each machine is charged for every window that it enters. The "
        "budget is never exceeded: a machine whose next window it cannot pay "
        "is parked when the present one ends. The amount charged is shown "
        "beside the amount reserved, which a batch system bills for holding "
        "the whole allocation.\n",
        out);
    for (int v = 0; v < BATS_VERBS; v++) {
        fprintf(out, ".SH OPTIONS OF %s\n", bats_verb_name((enum bats_verb)v));
        roff_options(out, (enum bats_verb)v);
    }
    bats_asset_write(out, &bats_asset_man);
    roff_line(out, "", failures);
    fputs(".SH ENVIRONMENT\n.TP\n.B BATS_BUDGET\n"
          "the budget if \\-\\-budget is not given: an amount or account\n"
          ".TP\n.B BATS_HISTORY\n"
          "the history if \\-\\-history is not given; empty: there is none\n",
          out);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < N(exits); i++) {
        roff_line(out, ".TP\n.B ", exits[i].code);
        roff_line(out, "", exits[i].meaning);
    }
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; i < N(examples); i++) {
        roff_line(out, ".TP\n.B ", examples[i].command);
        roff_line(out, "", examples[i].says);
    }
    fputs(".SH SEE ALSO\n.BR parallel (1),\n.BR srun (1),\n.BR mpirun (1)\n",
          out);
}

/* ---- completion ---- */

/* Completes one of the words in "a|b[:C]". */
static void bash_choice(FILE *out, const char *words)
{
    int depth = 0;
    fputs(") COMPREPLY=($(compgen -W '", out);
    for (; *words != '\0'; words++) {
        depth += *words == '[';
        if (depth == 0)
            putc(*words == '|' ? ' ' : *words, out);
        depth -= *words == ']';
    }
    fputs("' -- \"$word\")) ;;\n", out);
}

/* Writes the completion of the arguments of the options of `verb`. */
static void bash_cases(FILE *out, enum bats_verb verb)
{
    for (size_t i = 0; i < bats_options_n; i++) {
        const struct bats_option *o = &bats_options[i];
        if (o->argument == NULL || !(o->verbs & 1u << verb))
            continue;
        fprintf(out, "    %s:--%s", bats_verb_name(verb), o->name);
        if (o->letter != 0)
            fprintf(out, "|%s:-%c", bats_verb_name(verb), o->letter);
        if (o->kind == BATS_OPTION_FILE)
            fputs(") COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", out);
        else if (o->kind == BATS_OPTION_DIRECTORY)
            fputs(") COMPREPLY=($(compgen -d -- \"$word\")) ;;\n", out);
        else if (o->kind == BATS_OPTION_CHOICE ||
                 o->kind == BATS_OPTION_OUTPUT)
            bash_choice(out, o->argument);
        else
            fputs(") ;;\n", out);
    }
}

void bats_help_bash(FILE *out)
{
    fputs("# bash completion for bats-mpi\n"
          "_bats_mpi() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} verb=run\n"
          "    case ${COMP_WORDS[1]} in",
          out);
    for (int v = 0; v < BATS_VERBS; v++)
        fprintf(out, "%s%s", v == 0 ? " " : "|",
                bats_verb_name((enum bats_verb)v));
    fputs(") [ \"$COMP_CWORD\" -gt 1 ] && verb=${COMP_WORDS[1]} ;; esac\n"
          "    COMPREPLY=()\n"
          "    case $verb:${COMP_WORDS[COMP_CWORD - 1]} in\n",
          out);
    for (int v = 0; v < BATS_VERBS; v++)
        bash_cases(out, (enum bats_verb)v);
    fputs("    *) case $verb:$word in\n", out);
    for (int v = 0; v < BATS_VERBS; v++) {
        fprintf(out, "        %s:-*) COMPREPLY=($(compgen -W '",
                bats_verb_name((enum bats_verb)v));
        for (size_t i = 0; i < bats_options_n; i++)
            if (bats_options[i].verbs & 1u << v)
                fprintf(out, "--%s ", bats_options[i].name);
        fputs("' -- \"$word\")) ;;\n", out);
    }
    fputs(
        "        plan:*) ;;\n"
        "        record:*) if [ \"$COMP_CWORD\" -eq 2 ]; then\n"
        "            COMPREPLY=($(compgen -W 'verify recover' -- \"$word\"))\n"
        "        else\n"
        "            COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "        fi ;;\n"
        "        *) COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "            [ \"$COMP_CWORD\" -eq 1 ] &&\n"
        "                COMPREPLY+=($(compgen -W '",
        out);
    for (int v = 0; v < BATS_VERBS; v++)
        fprintf(out, "%s ", bats_verb_name((enum bats_verb)v));
    fputs("--help --version' -- \"$word\")) ;;\n"
          "        esac ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _bats_mpi bats-mpi\n",
          out);
}
