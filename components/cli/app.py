"""``hearsight app``: the web application."""

from __future__ import annotations

from typing import Annotated

import typer

from components.core.graph import find_root
from components.core.printing import print_error

app = typer.Typer()
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  only compared with
"""Listening at all addresses of this machine."""


@app.command("app")
def application(
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8010,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", help="A host name that people use in the browser, e.g. rate.example.org. Repeatable. Others are refused."
        ),
    ] = None,
    https: Annotated[bool, typer.Option("--https", help="A proxy offers the application by HTTPS.")] = False,
    mlflow: Annotated[str, typer.Option(help="The address of MLflow, for the start page.")] = "",
    prefect: Annotated[str, typer.Option(help="The address of Prefect, for the start page.")] = "",
) -> None:
    """Open the start page, rating, search and description in a browser; Ctrl-C ends it.

    The link printed here logs its owner in while the application runs. Raters come with the links of `hearsight ratings invite`.
    """
    # Here: FastAPI takes a second to import.
    from components.app.serve import open_socket, serve
    from components.app.settings import LOOPBACK_HOSTS, AppSettings, read_secret, write_token
    from components.ratings.running import database_url

    root = find_root()
    hosts = tuple(dict.fromkeys([*(name or []), *LOOPBACK_HOSTS, *([host] if host not in EVERYWHERE else [])]))
    links = {title: address for title, address in (("mlflow", mlflow), ("prefect", prefect)) if address}
    settings = AppSettings(root, read_secret(root), database_url(root), hosts, host, https, links)
    listening = open_socket(host, port)
    shown = name[0] if name else LOOPBACK_HOSTS[0] if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    address = f"https://{shown}" if https else f"http://{shown}:{listening.getsockname()[1]}"
    write_token(settings)
    print(f"Hearsight  {address}{settings.login}   (for its owner, while this runs)", flush=True)
    if not settings.local and not https:
        print_error("warning: without HTTPS, sessions can be read in the network; put a proxy before it and use --https")
    serve(settings, listening)
