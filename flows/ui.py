"""``python -m flows.ui``: MLflow, Prefect, and the reports with their Data Docs, each on a port of loopback, until Ctrl-C."""

from __future__ import annotations

import argparse
import html
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.tracking import flush_or_warn
from flows.server import LOOPBACK, prefect_server, served
from flows.settings import prepare

SHOWN = ("reports", "data/*/report", "data/*/analyze", "data/*/listen", "data/*/compare")
"""What is served of the project; nothing else of it is."""


class Pages(SimpleHTTPRequestHandler):
    """The reports and the Data Docs, and a page that lists them."""

    def __init__(self, *given: object, root: Path) -> None:
        self.root = root
        super().__init__(*given, directory=str(root))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """A file of what is shown, or the list."""
        if self.path.split("?")[0] != "/":
            super().do_GET()
            return
        body = index(self.root).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def translate_path(self, path: str) -> str:
        """Nothing outside ``SHOWN``."""
        place = Path(super().translate_path(path)).resolve()
        shown = (folder.resolve() for pattern in SHOWN for folder in self.root.glob(pattern))
        return str(place) if any(place.is_relative_to(folder) for folder in shown) else os.devnull + "/none"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a page of Data Docs is some fifty requests."""


def index(root: Path) -> str:
    """The page that lists every report and every boundary's Data Docs."""
    pages = ("report/report.html", "analyze/analysis.html", "listen/listen.html", "compare/compare.html")
    reports = sorted(path for page in pages for path in root.glob(f"data/*/{page}"))
    docs = sorted(path for depth in ("*/*", "*/cells/*/*") for path in root.glob(f"reports/data_docs/{depth}/index.html"))

    def links(pages: list[Path]) -> str:
        places = [str(page.relative_to(root)) for page in pages]
        items = (f'<li><a href="/{html.escape(place)}">{html.escape(place)}</a></li>' for place in places)
        return f"<ul>{''.join(items)}</ul>" if places else "<p>None yet: run <code>dvc repro</code>.</p>"

    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Hearsight: reports and checks</title>'
        "<style>body{font:1rem/1.5 system-ui;max-width:45rem;margin:2rem auto;padding:0 1rem}</style>"
        f"<h1>Hearsight</h1><h2>Reports</h2>{links(reports)}<h2>Checks (Data Docs)</h2>{links(docs)}</html>"
    )


@contextmanager
def mlflow_server(root: Path, port: int) -> Iterator[str]:
    """MLflow's address: the server that ``MLFLOW_TRACKING_URI`` names, or one of ours over the project's database."""
    store = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{root / 'mlflow.db'}"
    if store.startswith("http"):
        yield store
        return
    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")  # half a dozen idle processes otherwise
    url = f"http://{LOOPBACK}:{port}"
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store, "--workers", "1"]
    with served("mlflow", [*command, "--host", LOOPBACK, "--port", str(port)], f"{url}/health", root):
        yield url


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.ui", description="MLflow, Prefect, reports and Data Docs in a browser."
    )
    parser.add_argument("--mlflow", type=int, default=5000, metavar="PORT")
    parser.add_argument("--prefect", type=int, default=4200, metavar="PORT")
    parser.add_argument("--pages", type=int, default=8010, metavar="PORT")
    chosen = parser.parse_args(arguments)
    try:
        root = find_root()
        prepare(root)
        flush_or_warn(root)
        with ExitStack() as stack:
            mlflow = stack.enter_context(mlflow_server(root, chosen.mlflow))
            api = stack.enter_context(prefect_server(root, chosen.prefect))
            try:
                pages = stack.enter_context(ThreadingHTTPServer((LOOPBACK, chosen.pages), partial(Pages, root=root)))
            except OSError as error:
                raise HearsightError(f"port {chosen.pages}: {error.strerror}", mend="choose another with --pages") from None
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
