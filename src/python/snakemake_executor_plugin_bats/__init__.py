"""Snakemake 8 and 9 in an open bag of bats-mpi.

    bats-mpi run --open -j 8 -- snakemake --executor bats -j 500

Jobs are submitted to the run at BATS_SOCKET, all that are ready at once, by the
properties that Snakemake writes into its job scripts: the class of a task is
its rule, threads are its cores, mem_mb its memory, runtime its time limit.
"""
from __future__ import annotations

import json
import os
import socket
from typing import Any, AsyncGenerator, Dict, List

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import \
    SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import \
    RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_default_storage_provider_args=True,
    pass_default_resources_args=True,
    pass_envvar_declarations_to_cmd=True,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=1,
)

AT_ONCE = 500  # requests that are sent before their answers are read

# What Snakemake takes for the memory of a job whose rule says none.
UNSAID = "min(max(2*input.size_mb, 1000), 8000)"
MEMORY = ("mem", "mem_mb")


def _asks_for_memory(job: Any, defaults: Any) -> bool:
    """Whether a rule of the job, or --default-resources, says its memory."""
    values = getattr(defaults, "parsed", defaults)  # without it: the newest
    unsaid = [values[name] for name in MEMORY
              if f"{name}={UNSAID}" in defaults.args]
    return any(name in j.rule.resources and j.rule.resources[name] not in unsaid
               for j in (job.jobs if job.is_group() else [job])
               for name in MEMORY)


class Executor(RemoteExecutor):
    def __post_init__(self) -> None:
        path = os.environ.get("BATS_SOCKET")
        if path is None:
            raise WorkflowError("BATS_SOCKET is not set: start 'bats-mpi run "
                                "--open -- snakemake --executor bats ...'")
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as error:
            raise WorkflowError(f"no run listens at {path}: {error}")
        self._answers = self._socket.makefile("r")
        self.next_seconds_between_status_checks = 1

    def _ask(self, requests: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        answers: List[Dict[str, Any]] = []
        try:
            for i in range(0, len(requests), AT_ONCE):
                some = requests[i:i + AT_ONCE]
                self._socket.sendall("".join(
                    json.dumps(r) + "\n" for r in some).encode())
                answers += [json.loads(self._answers.readline())
                            for _ in some]
        except (OSError, ValueError):
            raise WorkflowError("the run of bats-mpi has ended")
        return answers

    def _needs(self, job: Any) -> Dict[str, Any]:
        needs: Dict[str, Any] = {"properties": json.loads(job.properties())}
        defaults = self.workflow.resource_settings.default_resources
        mb = needs["properties"]["resources"].pop("mem_mb", 0)
        if isinstance(mb, int) and mb > 0 and _asks_for_memory(job, defaults):
            needs["memory"] = f"{mb}M"
        return needs

    def run_jobs(self, jobs: List[JobExecutorInterface]) -> None:
        requests = []
        for job in jobs:
            self.run_job_pre(job)
            requests.append({
                "submit": self.format_job_exec(job), "cwd": os.getcwd(),
                **self._needs(job)})
        with self.lock:
            answers = self._ask(requests)
        for job, answer in zip(jobs, answers):
            info = SubmittedJobInfo(job, str(answer.get("id")))
            if "error" in answer:
                self.report_job_error(info, msg=answer["error"] + "\n")
            else:
                self.report_job_submission(info)

    def run_job(self, job: JobExecutorInterface) -> None:
        self.run_jobs([job])

    async def check_active_jobs(
        self, active_jobs: List[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        with self.lock:
            answers = self._ask([{"state": int(info.external_jobid or 0)}
                                 for info in active_jobs])
        for info, answer in zip(active_jobs, answers):
            state = answer.get("state")
            if state == "success":
                self.report_job_success(info)
            elif state == "failed" or "error" in answer:
                self.report_job_error(info, msg=answer.get("error"))
            else:
                yield info

    def cancel_jobs(self, active_jobs: List[SubmittedJobInfo]) -> None:
        with self.lock:
            self._ask([{"cancel": [int(info.external_jobid or 0)
                                   for info in active_jobs]}])
