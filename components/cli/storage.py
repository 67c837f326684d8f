"""``hearsight storage``: use, push, pull, status, prune. Imports are inside the commands: ``hearsight --help`` needs none."""

from __future__ import annotations

from typing import Annotated

import typer

from components.core.errors import HearsightError
from components.core.graph import Graph, find_root, load_graph
from components.core.printing import print_line, print_table

app = typer.Typer(no_args_is_help=True, help="The bucket of a project whose outputs are in S3.")
Outputs = Annotated[list[str] | None, typer.Argument(help="Outputs as DATASET/STAGE; without any, all finished ones.")]

Verify = Annotated[bool, typer.Option("--verify", help="Read everything in the bucket and compare it with its digest.")]


@app.command()
def use(
    where: Annotated[str, typer.Argument(help="s3://bucket/prefix, or local.")],
    endpoint: Annotated[str, typer.Option(help="The address of a server other than AWS, e.g. https://host:9000.")] = "",
) -> None:
    """Keep the files of outputs in a bucket, or on this disk again: set params.yaml:storage and DVC's remote."""
    from components.tools.storage.transfer import LOCAL, use_storage

    if where == LOCAL and endpoint:
        raise HearsightError("has no endpoint", where="storage use local", hint="leave out --endpoint")
    settings = use_storage(find_root(), where, endpoint)
    step = "hearsight storage push; dvc commit --force; dvc push" if settings.kind == "s3" else "dvc commit --force"
    print_line({"storage": where, "versioned": settings.versioned.lstrip("/") or "folders", "next": step})


@app.command()
def push(outputs: Outputs = None, verify: Verify = False) -> None:
    """Send finished outputs, and complete snapshots, that are not in the bucket, e.g. those made before it was used.

    With --verify, also repair what is damaged there from the files here; exit with 1 while damage is left.
    """
    from components.tools.storage.transfer import find_damaged, push_outputs, push_snapshots, repair

    graph = load_graph(find_root())
    damaged = find_damaged(graph, outputs or []) if verify else []
    repaired = list(repair(graph, damaged))
    for key in repaired:
        print_line({"repaired": key})
    for line in push_outputs(graph, outputs or []):
        print_line(line)
    for line in push_snapshots(graph.root) if not outputs else ():
        print_line(line)
    _end_if_damaged(graph, [key for key in damaged if key not in repaired])


@app.command()
def pull(outputs: Outputs = None) -> None:
    """Fetch all files of outputs. Stages and commands fetch what they read themselves; this is for reading without a network."""
    from components.tools.storage.transfer import pull_outputs

    for line in pull_outputs(load_graph(find_root()), outputs or []):
        print_line(line)


@app.command()
def status(verify: Verify = False) -> None:
    """Print files, bytes and missing objects of each finished output, and the bucket's size.

    With --verify, also print what is damaged there. Exit with 1 if anything is missing or damaged.
    """
    from components.tools.storage.transfer import find_damaged, read_status

    graph = load_graph(find_root())
    lines = read_status(graph)
    print_table(lines)
    _end_if_damaged(graph, find_damaged(graph) if verify else [])
    if any(line.get("missing in the bucket") for line in lines):
        raise typer.Exit(1)


def _end_if_damaged(graph: Graph, keys: list[str]) -> None:
    from components.tools.storage.transfer import chosen_outputs, name_users

    for key in keys:
        print_line({"damaged": key, "needed by": name_users(chosen_outputs(graph, []), key)})
    if keys:
        raise typer.Exit(1)


@app.command()
def prune(
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="A git revision whose outputs stay. Repeatable; otherwise all branches and tags."),
    ] = None,
    days: Annotated[float, typer.Option(help="Only what is older, so that nothing of a running stage is deleted.", min=0)] = 7.0,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, only count.")] = False,
) -> None:
    """Delete objects and cache entries that neither the outputs here nor those of the kept revisions need."""
    from components.tools.storage.prune import delete_unused, find_unused

    root = find_root()
    unused = find_unused(root, keep or [], days)
    if yes:
        delete_unused(root, unused)
    print_line(
        {
            "objects": len(unused.objects),
            "bytes": sum(unused.objects.values()),
            "cache entries": len(unused.entries),
            "deleted": yes,
        }
    )
