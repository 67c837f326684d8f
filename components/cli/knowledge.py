"""``hearsight knowledge``: build a local index of Wikidata, ask single questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import Dataset
from components.core.graph import find_root
from components.core.printing import print_error, print_line
from components.knowledge.setup import lookup_once

knowledge = typer.Typer(
    no_args_is_help=True, help="The hypernyms of named entities: build a local index of Wikidata, ask single questions."
)


@knowledge.command("index")
def knowledge_index(
    dump: Annotated[Path, typer.Argument(help="Wikidata's JSON dump: latest-all.json, .gz or .bz2.")],
    out: Annotated[Path, typer.Option(help="The folder of the index.")],
    min_sitelinks: Annotated[
        int, typer.Option(min=0, help="Leave out items with fewer pages in Wikipedia and its sister projects.")
    ] = 1,
) -> None:
    """Build the local index of Wikidata that `hypernymize.knowledge: [wikidata_index]` reads."""
    from components.knowledge.wikidata.build import build_index

    about = build_index(dump, out, min_sitelinks)
    for line in about["broken_lines"]:
        print_error(f"{dump}: {line}")
    print_line({key: about[key] for key in ("lines", "items", "entities", "names", "classes", "broken", "bytes", "digest")})


@knowledge.command("ask")
def knowledge_ask(
    name: Annotated[str, typer.Argument(help="A named entity, as written in a caption.")],
    kind: Annotated[str, typer.Argument(help="Its type: PERSON, GPE, LOC, FAC, ORG, EVENT, WORK_OF_ART, PRODUCT, LAW.")],
    dataset: Dataset = "english",
) -> None:
    """Look up the hypernym of one name in the dataset's knowledge sources, in order."""
    print_line(lookup_once(find_root(), dataset, name, kind))
