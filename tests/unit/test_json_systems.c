/* json_systems: what PBS and Flux print as JSON, read into an allocation. The
 * samples have the members of output that was published of OpenPBS 19 to 2022
 * (`qstat -f -F json`, `pbsnodes -a -F json` of several sites' tools) and of
 * flux-core 0.89 (`flux jobs --json`, in the tests of Open OnDemand), with
 * other names and numbers. */
#include <string.h>
#include <time.h>

#include "helpers/test.h"
#include "site/batch_system.h"
#include "site/json_systems.h"

/* Its queue, user, account and rate, and its two nodes; *: a whole one. */
static void holds(const struct bats_allocation *a, const char *expected)
{
    assert_int_equal(a->n_nodes, 2);
    assert_reads(expected, "%s %s %s %g: %s %u%s, %s %u%s",
                 a->parts[0].partition, a->user, a->account, a->rate,
                 a->nodes[0].host, a->nodes[0].cpus,
                 a->nodes[0].whole ? "*" : "", a->nodes[1].host,
                 a->nodes[1].cpus, a->nodes[1].whole ? "*" : "");
}

/* ---- PBS ---- */

static const char qstat[] =
    "{ \"timestamp\":1664911414, \"pbs_version\":\"19.0.0\","
    " \"pbs_server\":\"pbs.example.org\", \"Jobs\":{"
    " \"128.pbs.example.org\":{ \"Job_Name\":\"bag\","
    " \"Job_Owner\":\"anna@login1\", \"job_state\":\"R\","
    " \"queue\":\"short\", \"server\":\"pbs.example.org\","
    " \"Account_Name\":\"phys\", \"ctime\":\"Tue Oct  4 21:23:20 2022\","
    " \"exec_host\":\"c24/0*2+c21/0*4\","
    " \"exec_vnode\":\"(c24:ncpus=2:mem=4194304kb)+"
    "(c21[0]:ncpus=1:mem=4kb+c21[1]:ncpus=3)+(gpus:ngpus=1)\","
    " \"Priority\":0, \"Resource_List\":{ \"mem\":\"8gb\", \"ncpus\":6,"
    " \"nodect\":2, \"select\":\"2:ncpus=2\", \"walltime\":\"27:00:30\" },"
    " \"stime\":\"Tue Oct  4 21:23:33 2022\", \"run_count\":2,"
    " \"Variable_List\":{ \"PBS_O_HOME\":\"/home/anna\" } } } }";

static const char pbsnodes[] =
    "{ \"timestamp\":1699630815, \"pbs_version\":\"2022.1.1\","
    " \"nodes\":{ \"c21\":{ \"Mom\":\"c21.example.org\", \"ntype\":\"PBS\","
    " \"state\":\"job-busy\", \"pcpus\":4, \"resources_available\":{"
    " \"host\":\"c21\", \"mem\":\"527831088kb\", \"ncpus\":4 },"
    " \"jobs\":[ \"128.pbs/0\" ] },"
    " \"c24\":{ \"state\":\"free\", \"resources_available\":{"
    " \"ncpus\":64 } } } }";

TEST(a_job_of_pbs_has_the_hosts_of_its_chunks_and_ends_after_its_walltime)
{
    struct bats_allocation a = {0};
    setenv("TZ", "UTC", 1);
    tzset();
    assert_ok(bats_pbs_read_job(qstat, &a, &err));
    assert_ok(bats_pbs_read_nodes(pbsnodes, 2, &a, &err));
    /* 6 threads, 2 per core */
    holds(&a, "short anna phys 3: c24 2, c21 4*");
    assert_int_equal(a.start_s, 1664918613);
    assert_int_equal(a.end_s, 1664918613 + 27 * 3600 + 30);
    assert_int_equal(a.life, 1);
    bats_allocation_release(&a);
}

TEST(without_a_job_that_runs_pbs_is_said_not_to_answer)
{
    static const char *const answers[] = {
        "", "qstat: Unknown Job Id 7",
        "{\"timestamp\":1,\"pbs_server\":\"p\"}",
        "{\"Jobs\":{\"7.p\":{\"job_state\":\"Q\",\"queue\":\"short\"}}}"};
    for (size_t i = 0; i < 4; i++) {
        struct bats_allocation a = {0};
        assert_int_equal(bats_pbs_read_job(answers[i], &a, &err), BATS_ESYS);
        assert_int_equal(bats_pbs_read_nodes(answers[i], 1, &a, &err),
                         BATS_ESYS);
        bats_allocation_release(&a);
    }
}

TEST(durations_are_read_as_all_systems_write_them)
{
    assert_int_equal(bats_answer_seconds("1-02:03:04"), 93784);
    assert_int_equal(bats_answer_seconds("27:00:30"), 97230);
    assert_int_equal(bats_answer_seconds("  90\n"), 90);
    assert_int_equal(bats_answer_seconds("UNLIMITED"), 0);
    assert_int_equal(bats_answer_kib("3G", 'M'), 3 << 20);
    assert_int_equal(bats_answer_kib("4096", 'B'), 4);
}

/* ---- Flux ---- */

static const char flux[] =
    "{\"t_depend\": 1791485339.36, \"t_run\": 1791485339.3808882, "
    "\"duration\": 3600.0, \"expiration\": 1791488939.0, \"name\": \"bag\", "
    "\"cwd\": \"/home/anna\", \"queue\": \"batch\", \"ntasks\": 20, "
    "\"ncores\": 20, \"nnodes\": 2, \"ranks\": \"[3-4]\", "
    "\"nodelist\": \"n[3-4]\", \"id\": 91088924704768, "
    "\"state\": \"RUN\", \"username\": \"anna\", \"userid\": 1002, "
    "\"bank\": \"phys\", \"jobid\": \"\\u0192iFkbMhFM\", "
    "\"annotations\": {\"sched\": {\"queue\": \"default\"}}, "
    "\"exception\": {\"occurred\": false}}";

static void check(const char *json)
{
    struct bats_allocation a = {0};
    assert_ok(bats_flux_read_job(json, &a, &err));
    holds(&a, "batch anna phys 20: n3 10, n4 10");
    assert_int_equal(a.start_s, 1791485339);
    assert_int_equal(a.end_s, 1791488939);
    bats_allocation_release(&a);
}

TEST(a_job_of_flux_shares_its_cores_among_its_hosts)
{
    char list[1024];
    check(flux);
    snprintf(list, sizeof list, "{\"jobs\": [%s]}", flux);
    check(list);
}

TEST(a_job_of_flux_without_a_limit_has_no_end)
{
    struct bats_allocation a = {0};
    assert_ok(
        bats_flux_read_job("{\"expiration\": 9223372036.0, \"ncores\": 1, "
                           "\"nodelist\": \"n1\"}",
                           &a, &err));
    assert_int_equal(a.end_s, 0);
    bats_allocation_release(&a);
    assert_true(bats_flux_read_job("", &a, &err) < 0);
    assert_true(bats_flux_read_job("{\"jobs\": []}", &a, &err) < 0);
    assert_true(bats_flux_read_job("{\"state\": \"SCHED\"}", &a, &err) < 0);
    bats_allocation_release(&a);
}

TEST(their_jobs_are_known_by_the_environment)
{
    unsetenv("SGE_ROOT");
    unsetenv("SLURM_JOB_ID");
    assert_null(bats_batch_system_here());
    setenv("PBS_JOBID", "128.pbs", 1);
    setenv("PBS_QUEUE", "short", 1);
    assert_string_equal(bats_batch_system_here()->key, "pbs");
    assert_string_equal(bats_batch_partition("c24"), "short");
    assert_false(bats_batch_launched());
    unsetenv("PBS_JOBID");
    setenv("FLUX_JOB_ID", "91088924704768", 1);
    setenv("FLUX_TASK_RANK", "0", 1);
    assert_string_equal(bats_batch_system_here()->key, "flux");
    assert_true(bats_batch_launched());
}

TEST_MAIN(NULL, NULL)
