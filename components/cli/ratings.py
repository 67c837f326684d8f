"""``hearsight ratings``: open, invite, revoke, status, export, ask, judge; files of other tools.

Imports are inside the commands: SQLAlchemy and pyarrow take a second, and ``hearsight --help`` needs neither.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.cli.options import Dataset
from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.printing import print_line, print_table

if TYPE_CHECKING:
    from components.ratings.items import RatingItems
    from components.ratings.store import RatingStore


app = typer.Typer(no_args_is_help=True, help="Human ratings: invite raters, follow and export what they rate.")


@app.command("open")
def open_rating(dataset: Dataset = "english") -> None:
    """Open a dataset's rating, or take over its changed items; ratings of unchanged items stay. Other commands do it, too."""
    _, _, counts = _opened(find_root(), dataset)
    print_line({"dataset": dataset, **counts})


@app.command()
def invite(
    dataset: Dataset = "english",
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="The number of raters.")] = 3,
    days: Annotated[int, typer.Option(min=1, max=365, help="Days until the links expire.")] = 14,
    address: Annotated[str, typer.Option(help="The address of the application, as raters reach it.")] = "http://127.0.0.1:8010",
) -> None:
    """Print a link for each new rater. A rater can stop, and go on later with the same link in any browser."""
    from components.app.invitations import invitation, invitation_link
    from components.app.settings import read_secret

    root = find_root()
    store, _, _ = _opened(root, dataset)
    secret = read_secret(root)
    links = [(rater, invitation_link(address, invitation(secret, rater, days))) for rater in store.invite(dataset, count)]
    print_table({"rater": rater, "days": days, "link": link} for rater, link in links)


@app.command()
def revoke(
    raters: Annotated[list[str] | None, typer.Argument(help="Raters, as `hearsight ratings invite` printed them.")] = None,
    dataset: Dataset = "english",
    everyone: Annotated[bool, typer.Option("--all", help="All raters of the dataset.")] = False,
) -> None:
    """End invitations: links and sessions of these raters are refused from now on, and what they have rated stays."""
    store, _, _ = _opened(find_root(), dataset)
    if bool(raters) == everyone:
        raise HearsightError("gives no raters, or both raters and --all", where="ratings revoke", hint="give one of them")
    chosen = sorted(store.raters(dataset)) if everyone else list(raters or [])
    revoked = store.revoke(chosen)
    print_table({"rater": rater, "revoked": "now" if rater in revoked else "before"} for rater in chosen)


@app.command()
def status(
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="A dataset; without one, all with items to rate.")] = "",
    check: Annotated[bool, typer.Option("--check", help="Exit with code 1 unless every item has all its ratings.")] = False,
) -> None:
    """Print how far ratings are: items, complete ones, ratings, how many are wanted, and people who rated."""
    from components.ratings.running import datasets_with_items

    root = find_root()
    names = [dataset] if dataset else datasets_with_items(root)
    store = None
    for name in names:
        store, _, _ = _opened(root, name)
    found = [campaign for campaign in (store.campaigns() if store else []) if campaign.dataset in names]
    print_table(campaign.plain() for campaign in found)
    if check and not all(campaign.finished for campaign in found):
        raise typer.Exit(1)


@app.command()
def export(dataset: Dataset = "english") -> None:
    """Write the ratings to ratings/DATASET/hearsight.csv, which the stage import_ratings reads. Raters have random numbers."""
    from components.ratings.running import export_path, export_ratings

    root = find_root()
    store, items, _ = _opened(root, dataset)
    path = export_path(root, dataset)
    count = export_ratings(store, dataset, items, path)
    print_line({"ratings": count, "file": str(path.relative_to(root)), "next": f"dvc repro import_ratings@{dataset}"})


@app.command()
def ask(
    dataset: Dataset = "english",
    model: Annotated[str, typer.Option(help="A vision model of the server. Default: server.vision of params.yaml.")] = "",
) -> None:
    """Ask a model server about each item that shows a text; its verdicts stand beside people's, and never count as theirs."""
    from components.tools.model_ratings import ask_model

    print_line(ask_model(find_root(), dataset, model))


@app.command("judge")
def judge_(
    dataset: Dataset = "english",
    wrong: Annotated[str, typer.Option(help="The numbers of the wrong captions, as '3 17'; none if all are right.")] = "",
) -> None:
    """Show forty random kept captions with their images on a page; with --wrong, save which are wrong and print the precision."""
    from components.tools.judging import judge_kept  # here: pyarrow, and --help needs none

    root = find_root()
    kept, page = judge_kept(root, dataset, _numbers(wrong) if wrong else None)
    line: dict[str, object] = {"dataset": dataset, "captions": len(kept.rows), "page": str(page.relative_to(root))}
    if kept.precision is not None:
        low, high = kept.precision.interval
        line |= {"judged": kept.precision.judged, "precision": round(kept.precision.value, 3)}
        line |= {"low": round(low, 3), "high": round(high, 3)}
    print_line(line)


def _numbers(text: str) -> list[int]:
    words = [] if text.strip() == "none" else text.replace(",", " ").split()
    if unknown := [word for word in words if not word.isdecimal()]:
        raise HearsightError(
            f"'{unknown[0]}' is no number", where="--wrong", hint="give the numbers of captions, as on the page, or none"
        )
    return [int(word) for word in words]


def _opened(root: Path, dataset: str) -> tuple[RatingStore, RatingItems, dict[str, int]]:
    """Return the store and a dataset's items, with the campaign as these items say, and what changed of it."""
    from components.ratings.running import database_url, follow, open_items
    from components.ratings.store import RatingStore

    items = open_items(root, dataset)
    store = RatingStore(database_url(root))
    return store, items, follow(store, dataset, items)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A table as CSV.")],
    dataset: Dataset = "english",
) -> None:
    """Copy a file of ratings into ratings/DATASET as CSV, with raters' names replaced by pseudonyms."""
    from components.tools.rating_files import import_file  # here: pyarrow, and --help needs none

    print_line(import_file(load_graph(find_root()), dataset, file))
