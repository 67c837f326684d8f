"""``python -m flows.ui``: MLflow, Prefect and the reports with their Data Docs, each on a port of loopback."""

from __future__ import annotations

import argparse
import html
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from components.core.check_warnings import read_all_warnings
from components.core.errors import HearsightError
from components.core.graph import Graph, find_root, load_graph
from components.tracking.recorder import flush_or_warn
from flows.server import LOOPBACK, prefect_server, run_server
from flows.settings import PORTS, configure_prefect

TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)
HEAD = 4096
"""Bytes of a page that are searched for its title."""


class Pages(SimpleHTTPRequestHandler):
    """HTTP handler of the stages' pages, the folder ``reports``, and an index at ``/``."""

    def __init__(self, *arguments: object, graph: Graph) -> None:
        self.graph = graph
        super().__init__(*arguments, directory=str(graph.root))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Send a served file or the index."""
        if self.path.split("?")[0] != "/":
            super().do_GET()
            return
        body = index(self.graph).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def translate_path(self, path: str) -> str:
        """Return the file of a URL; for a path outside the served folders one that does not exist."""
        file = Path(super().translate_path(path)).resolve()
        shown = (folder.resolve() for folder in shown_folders(self.graph))
        return str(file) if any(file.is_relative_to(folder) for folder in shown) else os.devnull + "/none"

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: a page of Data Docs causes some fifty requests."""


def stage_pages(graph: Graph) -> list[Path]:
    """Return the HTML pages in the stages' output folders, in the order of the graph."""
    outputs = (graph.output(stage, dataset) for dataset in graph.datasets for stage in graph.stages_of(dataset))
    return [page for output in outputs for page in sorted(output.glob("*.html"))]


def shown_folders(graph: Graph) -> list[Path]:
    """Return the served folders: ``reports`` and those of the pages, with their pictures and recordings."""
    return [graph.root / "reports", *dict.fromkeys(page.parent for page in stage_pages(graph))]


def index(graph: Graph) -> str:
    """Return the HTML index of the stages' pages, the pages of ``reports``, and the Data Docs of all outputs."""
    root = graph.root
    docs = sorted(path for depth in ("*/*", "*/cells/*/*") for path in root.glob(f"reports/data_docs/{depth}/index.html"))
    reports = [path for path in sorted(root.glob("reports/*/index.html")) if path.parent.name != "data_docs"]

    def links(pages: list[Path]) -> str:
        items = (
            f'<li><a href="/{quote(path)}">{html.escape(_title(page) or path)}</a> <small>{html.escape(path)}</small></li>'
            for page, path in ((page, page.relative_to(root).as_posix()) for page in pages)
        )
        return f"<ul>{''.join(items)}</ul>" if pages else "<p>None yet: run <code>dvc repro</code>.</p>"

    items = "".join(f"<li>{html.escape(warning.text)}</li>" for warning in read_all_warnings(root))
    warnings = f"<h2>Warnings of the checks</h2><ul>{items}</ul>" if items else ""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Hearsight: reports and checks</title>'
        "<style>body{font:1rem/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}small{color:#555}</style>"
        f"<h1>Hearsight</h1><h2>Reports</h2>{links(stage_pages(graph) + reports)}{warnings}"
        f"<h2>Checks (Data Docs)</h2>{links(docs)}</html>"
    )


def _title(page: Path) -> str:
    """Return a page's title; for Data Docs, whose titles are equal, dataset and stage."""
    folders = page.parent.parts
    if "data_docs" in folders:
        return "/".join(folders[folders.index("data_docs") + 1 :])
    with page.open("rb") as handle:
        match = TITLE.search(handle.read(HEAD).decode("utf-8", "replace"))
    return html.unescape(" ".join(match[1].split())) if match else ""


@contextmanager
def mlflow_server(root: Path, port: int) -> Iterator[str]:
    """Yield MLflow's URL: ``MLFLOW_TRACKING_URI``, or a server of the project's database that runs until the block ends."""
    store = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / 'mlflow.db'}"
    if store.startswith("http"):
        yield store
        return
    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")  # avoids six idle processes
    url = f"http://{LOOPBACK}:{port}"
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store, "--workers", "1"]
    with run_server("mlflow", [*command, "--host", LOOPBACK, "--port", str(port)], f"{url}/health", root):
        yield url


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.ui", description="MLflow, Prefect, reports and Data Docs in a browser."
    )
    for name, port in PORTS.items():
        parser.add_argument(f"--{name}", type=int, default=port, metavar="PORT")
    chosen = parser.parse_args(arguments)
    try:
        root = find_root()
        graph = load_graph(root)
        configure_prefect(root)
        flush_or_warn(root)
        with ExitStack() as stack:
            mlflow = stack.enter_context(mlflow_server(root, chosen.mlflow))
            api = stack.enter_context(prefect_server(root, chosen.prefect))
            try:
                pages = stack.enter_context(ThreadingHTTPServer((LOOPBACK, chosen.pages), partial(Pages, graph=graph)))
            except OSError as error:
                raise HearsightError(f"port {chosen.pages}: {error.strerror}", hint="choose another with --pages") from None
            print(f"experiments and models (MLflow)  {mlflow}", flush=True)
            print(f"flow runs (Prefect)              {api.removesuffix('/api')}", flush=True)
            print(f"reports and checks (Data Docs)   http://{LOOPBACK}:{chosen.pages}", flush=True)
            print("Ctrl-C ends all three", flush=True)
            pages.serve_forever()
    except KeyboardInterrupt:
        return 0
    except HearsightError as error:
        print(f"hearsight: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
