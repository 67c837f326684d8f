"""``hearsight heal`` and ``join``: dead image addresses, and other people's captions of one's images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import Dataset, check_outputs
from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.printing import print_line

app = typer.Typer()
Layout = Annotated[str, typer.Option(help="The layout of a published table without a header: cc3m, cc12m ...")]
Columns = Annotated[str, typer.Option(help="The table's columns where they have other names: url=IMG,sha256=SUM,caption=TEXT.")]


@app.command()
def heal(
    table: Annotated[
        Path | None, typer.Argument(help="A table whose addresses to heal. Default: the failures of the dataset's snapshot.")
    ] = None,
    dataset: Dataset = "english",
    archive: Annotated[
        list[str] | None,
        typer.Option(help="cdx:INDEX REPLAY, timemap:INDEX or timegate:ADDRESS with {url} and {timestamp}. Repeatable."),
    ] = None,
    digests: Annotated[
        list[str] | None,
        typer.Option(help="A table or an earlier snapshot that states the images' digests. Repeatable. Default: the bases."),
    ] = None,
    captures: Annotated[int, typer.Option(min=1, help="Captures of an address that are tried in an archive, at most.")] = 5,
    out: Annotated[Path | None, typer.Option(help="The healed table to write, .parquet or .csv.")] = None,
    ledger: Annotated[Path, typer.Option(help="The CSV file that gets a row for every try.")] = Path("heal.csv"),
    layout: Layout = "",
    columns: Columns = "",
) -> None:
    """Try dead image addresses again, then in web archives; accept what equals the digest that a record states.

    The dataset's crawl settings say how the web is asked. A second call continues.
    """
    from components.tools.heal.archives import Archive
    from components.tools.heal.targets import heal_snapshot, heal_table
    from components.tools.image_tables import read_image_table
    from components.tools.snapshots import crawl_stage

    archives = [Archive.parse(text) for text in archive or []]
    stage, stating = crawl_stage(find_root(), dataset), digests or []
    known = {path.resolve() for path in (table, *map(Path, stating)) if path}
    for file in filter(None, (ledger, out)):
        check_outputs(file, replace=True)
        if file.resolve() in known:
            raise HearsightError("would be written over an input or another output", where=file, hint="give it another name")
        known.add(file.resolve())
    if table is None:
        print_line(heal_snapshot(stage, archives, stating, ledger, captures))
    elif out is None:
        raise HearsightError("has no file to write", where="hearsight heal", hint="give --out healed.parquet")
    else:
        print_line(heal_table(stage, read_image_table(table, layout, columns), archives, stating, ledger, captures, out))


@app.command()
def join(
    captions: Annotated[Path, typer.Argument(help="Other people's captions: a table, or a release.")],
    out: Annotated[Path, typer.Option(help="The table to write, .parquet or .csv.")],
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="The dataset whose records of the split get them.")] = "",
    to: Annotated[Path | None, typer.Option(help="Instead: a table, a release or the output of a stage.")] = None,
    by: Annotated[str, typer.Option(help="What images are joined by, with commas between.")] = "sha256,url,phash",
    column: Annotated[str, typer.Option(help="The name of the new column.")] = "captions",
    layout: Layout = "",
    columns: Columns = "",
) -> None:
    """Join a table of other captions to one's images, as another column of a new table; what is not clear is listed beside it."""
    from components.tools.image_tables import read_image_table
    from components.tools.join import KEYS, written
    from components.tools.join import join as join_tables

    keys = tuple(key.strip() for key in by.split(","))
    if unknown := set(keys) - set(KEYS):
        raise HearsightError(f"'{unknown.pop()}' is nothing to join by", where="--by", hint=f"give some of {', '.join(KEYS)}")
    if bool(dataset) == (to is not None):
        raise HearsightError("needs one table to join to", where="hearsight join", hint="give --dataset or --to")
    check_outputs(*written(out))
    own = to or load_graph(find_root()).output("split", dataset)
    print_line(join_tables(read_image_table(own), read_image_table(captions, layout, columns), out, column, keys))
