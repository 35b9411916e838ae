#include "exec/process/environment.h"
#include "helpers/test.h"

/* In Open MPI 4.1, Hydra and Slurm 22.05 as found under `env`; of Flux as
 * flux-environment(7) has them. */
static char *const from_launchers[] = {
    "OMPI_COMM_WORLD_RANK=0",
    "OMPI_MCA_ess=^singleton",
    "PMIX_RANK=0",
    "PMIX_SERVER_URI4=1.0;tcp4://127.0.0.1:1",
    "PRTE_MCA_x=1",
    "PMI_FD=5",
    "PMI_RANK=1",
    "HYDI_CONTROL_FD=9",
    "MPI_LOCALRANKID=0",
    "MPI_LOCALNRANKS=2",
    "SLURM_PROCID=3",
    "BATS_BUDGET=100",
    "SLURM_LOCALID=1",
    "SLURM_NODEID=0",
    "SLURM_TASK_PID=77",
    "SLURM_GTIDS=0,1",
    "SLURM_STEPID=0",
    "SLURM_STEP_ID=0",
    "SLURM_STEP_NODELIST=n1",
    "SLURM_SRUN_COMM_PORT=1",
    "SLURM_LAUNCH_NODE_IPADDR=10.0.0.1",
    "SLURM_PMIX_MAPPING_SERV=(vector,(0,1,2))",
    "SLURM_CPU_BIND=quiet",
    "FLUX_JOB_ID=f2WQ8",
    "FLUX_TASK_RANK=1",
    "FLUX_TASK_LOCAL_ID=0",
    "FLUX_PMI_LIBRARY_PATH=/usr/lib/flux/libpmi.so",
    NULL};

static char *const of_the_user[] = {"PATH=/bin",
                                    "SLURM_JOB_ID=5",
                                    "SLURM_JOB_NODELIST=n[1-2]",
                                    "SLURM_NTASKS=4",
                                    "SLURM_PROCIDS=x",
                                    "OMPI_ALLOW_RUN_AS_ROOT=1",
                                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                    "MPI_HOME=/x",
                                    "FLUX_URI=local:///run/flux/local",
                                    "PBS_JOBID=7.server",
                                    "JOB_ID=5",
                                    "QUEUE=mine",
                                    "SGE_ROOT=/opt/sge",
                                    "EMPTY=",
                                    "XPMI_A=1",
                                    NULL};

/* Of `from` exactly these variables stay, in their order. */
static void keeps(char *const *from, char *const *kept)
{
    struct bats_environment e;
    assert_ok(bats_environment_init(&e, from, &err));
    char **merged = bats_environment_merge(&e, NULL);
    for (; *kept != NULL; kept++)
        assert_string_equal(*merged++, *kept);
    assert_null(*merged);
    bats_environment_release(&e);
}

TEST(only_launchers_and_jobs_of_grid_engine_lose_their_variables)
{
    /* JOB_ID and QUEUE are the user's elsewhere. */
    char *const job[] = {"JOB_ID=5",          "QUEUE=fast.q",
                         "NSLOTS=12",         "PE_HOSTFILE=/spool/hosts",
                         "RESTARTED=0",       "SGE_TASK_ID=undefined",
                         "SGE_ROOT=/opt/sge", NULL};
    keeps(job, job + 6);
    keeps(from_launchers, (char *[]){NULL});
    keeps(of_the_user, of_the_user);
}

TEST(added_variables_win)
{
    char *const outer[] = {"BATS_TASK_ID=1", "BATS_TASK_IDS=x", "A=1", NULL};
    const char *const first[] = {"BATS_TASK_ID=7", "OMPI_X=mine", NULL};
    const char *const second[] = {"B=2", NULL};
    struct bats_environment e;
    assert_int_equal(bats_environment_init(&e, outer, NULL), 0);
    char **merged = bats_environment_merge(&e, first);
    assert_string_equal(merged[0], "BATS_TASK_IDS=x");
    assert_string_equal(merged[1], "A=1");
    assert_string_equal(merged[2], "BATS_TASK_ID=7");
    assert_string_equal(merged[3], "OMPI_X=mine");
    assert_null(merged[4]);
    merged = bats_environment_merge(&e, second);
    assert_string_equal(merged[0], "BATS_TASK_ID=1");
    assert_string_equal(merged[3], "B=2");
    assert_null(merged[4]);
    bats_environment_release(&e);
}

TEST_MAIN(NULL, NULL)
