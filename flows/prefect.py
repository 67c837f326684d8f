"""``python -m flows.prefect COMMAND``: the command ``prefect`` with the server of this project and its login.

That is the server of ``PREFECT_API_URL``, else the one that ``flows.serve`` or ``flows.ui`` has started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.streams import report_errors, run_program
from flows.server import use_server
from flows.settings import configure_prefect, running_server, set_login

HINT = "start it in another terminal: python -m flows.serve"


def main(arguments: Sequence[str] | None = None) -> int:
    """Become ``prefect``; return 2 when no server of the project runs."""
    words = sys.argv[1:] if arguments is None else arguments

    def run() -> None:
        root = find_root()
        configure_prefect(root)
        if "PREFECT_API_URL" not in os.environ:
            url = running_server(root)
            if not url:
                raise HearsightError("no Prefect server of this project runs", where=root, hint=HINT)
            use_server(url)
            set_login(root)
        os.execv(sys.executable, [sys.executable, "-m", "prefect", *words])

    return report_errors(run)


if __name__ == "__main__":
    run_program(main)
