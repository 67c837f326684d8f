"""``python -m flows.worker --pool NAME``: run stages of a Prefect work pool in this clone, until Ctrl-C.

The clone needs the repository, DVC's remote and the Prefect server of ``PREFECT_API_URL``. It belongs to the worker: each stage
checks out the commit of its flow.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import socket
from collections.abc import Sequence

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.streams import report_errors, run_program
from flows.repository import FLOW_RUN, Repository
from flows.server import explain, require_server
from flows.settings import configure_prefect


def main(arguments: Sequence[str] | None = None) -> int:
    """Work until the process ends; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.worker", description="Run stages of a Prefect work pool in this clone."
    )
    parser.add_argument("--pool", required=True, help="a work pool of params.yaml: pools.<name>.work_pool")
    parser.add_argument("--remote", default="origin", help="git remote of this clone (default: origin)")
    chosen = parser.parse_args(arguments)

    def run() -> None:
        root = find_root()
        if not os.environ.get("PREFECT_API_URL"):
            raise HearsightError(
                "PREFECT_API_URL is not set", hint="set it to the server of flows.serve, e.g. http://HOST:4200/api"
            )
        configure_prefect(root)
        git = Repository(root, chosen.remote)
        if (edited := git.changed_files()) and not left_by_a_stage(git):
            raise HearsightError(
                "has changes that are not committed", where=root / edited[0], hint="use a clone for the worker alone"
            )
        os.environ.setdefault("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", "30")
        os.environ |= {"HEARSIGHT_WORKER_ROOT": str(root), "HEARSIGHT_WORKER_REMOTE": chosen.remote}
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
        require_server()
        from prefect.workers.process import ProcessWorker  # here: Prefect reads its settings on import

        name = re.sub(r"[^\w.-]+", "-", f"{socket.gethostname()}-{root.name}-{os.getpid()}")
        print(f"worker {name} of work pool {chosen.pool}", flush=True)
        asyncio.run(ProcessWorker(work_pool_name=chosen.pool, name=name, limit=1).start())

    return report_errors(run, explain)


def left_by_a_stage(git: Repository) -> bool:
    """Whether HEAD is a flow's commit and on no branch: a worker ran a stage here, and its results lie in the clone.

    The flow has them, or runs the stage again; the next stage's checkout replaces them.
    """
    on_branch = git.run("symbolic-ref", "--quiet", "HEAD", fail=False)
    return not on_branch and f"\n{FLOW_RUN}" in git.run("log", "-1", "--format=%B")


if __name__ == "__main__":
    run_program(main)
