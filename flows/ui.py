"""``python -m flows.ui``: the application, MLflow and Prefect, each on a port of loopback.

The application's start page links the others. One of these that does not start is left out with a warning.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.printing import print_error
from components.core.streams import report_errors, run_program
from components.tracking.record import artifact_environment, follow_move
from components.tracking.recorder import flush_or_warn
from flows.server import LOOPBACK, explain, prefect_server, run_server, without_login
from flows.settings import PORTS, configure_prefect, login_path

ABOUT = {"mlflow": "experiments and models (MLflow)", "prefect": "flow runs (Prefect)"}


@contextmanager
def mlflow_server(root: Path, port: int) -> Iterator[str]:
    """Yield MLflow's URL: ``MLFLOW_TRACKING_URI``, or a server of the project's database that runs until the block ends."""
    store = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / 'mlflow.db'}"
    if store.startswith("http"):
        yield store
        return
    follow_move(root)
    os.environ.update(artifact_environment(root) | os.environ)  # artefacts in S3
    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")  # avoids six idle processes
    url = f"http://{LOOPBACK}:{port}"
    names = [f"{host}:{port}" for host in (LOOPBACK, "localhost")]
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store, "--workers", "1"]
    command += ["--app-name", "hearsight"]  # components.tracking.pages
    # MLflow's own defaults accept every address of a private network, and pages of every port of this machine.
    command += ["--allowed-hosts", ",".join(names), "--cors-allowed-origins", ",".join(f"http://{name}" for name in names)]
    command += ["--x-frame-options", "DENY"]
    with run_server("mlflow", [*command, "--host", LOOPBACK, "--port", str(port)], f"{url}/health", root):
        yield url


@contextmanager
def application(root: Path, port: int, links: Mapping[str, str]) -> Iterator[str]:
    """Yield the link that logs the owner in to the application, whose start page links the servers ``links`` by name."""
    url = f"http://{LOOPBACK}:{port}"
    options = [word for name, address in links.items() for word in (f"--{name}", address)]
    command = [sys.executable, "-m", "components.cli.entry", "app", "--host", LOOPBACK, "--port", str(port), *options]
    with run_server("app", command, f"{url}/static/app.css", root):
        token = (root / ".hearsight" / "app" / "token").read_text(encoding="utf-8").strip()
        yield f"{url}/login?token={token}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m flows.ui", description="The start page, MLflow and Prefect in a browser.")
    for name, port in PORTS.items():
        parser.add_argument(f"--{name}", type=int, default=port, metavar="PORT")
    chosen = parser.parse_args(arguments)

    def run() -> None:
        root = find_root()
        load_graph(root)
        configure_prefect(root)
        flush_or_warn(root)
        with ExitStack() as stack, suppress(KeyboardInterrupt):
            links = {}
            for name, server in (("mlflow", mlflow_server), ("prefect", prefect_server)):
                try:
                    links[name] = without_login(stack.enter_context(server(root, getattr(chosen, name)))).removesuffix("/api")
                except HearsightError as error:
                    print_error(f"warning: without {name}: {error}")
            start = stack.enter_context(application(root, chosen.app, links))
            print(f"start page                       {start}", flush=True)
            for name, about in ABOUT.items():
                if name in links:
                    print(f"{about:<32} {links[name]}", flush=True)
            if "prefect" in links and "PREFECT_API_URL" not in os.environ:
                print(f"Prefect asks for a login: the line in {login_path(root).relative_to(root)}", flush=True)
            print("Ctrl-C ends everything", flush=True)
            threading.Event().wait()

    return report_errors(run, explain)


if __name__ == "__main__":
    run_program(main)
