"""``hearsight search``: the images and spoken captions nearest to a sound or an image."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from components.cli.options import check_outputs
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import find_root, load_graph
from components.core.printing import print_error, print_table

if TYPE_CHECKING:
    from components.search.queries import Query
    from components.search.searcher import Searcher, SearchResult

app = typer.Typer()


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A sound (WAV, FLAC, Ogg) or an image; - for standard input.")] = "",
    index: Annotated[
        str, typer.Option("--index", "-i", help="A dataset with an index, or the folder search/ of one.")
    ] = "stamps",
    k: Annotated[int, typer.Option("-k", help="The number of results of each kind.")] = 5,
    kind: Annotated[Literal["image", "speech", "both"], typer.Option(help="What to find.")] = "both",
    language: Annotated[str, typer.Option(help="Only results with a caption in this language (ISO 639-1).")] = "",
    split: Annotated[str, typer.Option(help="Only results of this split: train, validation or test.")] = "",
    text: Annotated[
        str, typer.Option(help="Instead of QUERY: words, which a local voice speaks; that speech is the query.")
    ] = "",
    voice: Annotated[
        str, typer.Option(help="The voice of --text, one of `hearsight voices`. Default: one of the index's main language.")
    ] = "",
    page: Annotated[Path | None, typer.Option(help="Write the results to this file as a page with images and players.")] = None,
    encoder_weights: Annotated[
        Path | None,
        typer.Option(help="The frozen image encoder's weights file (a hub's: its folder), if extract_features was given one."),
    ] = None,
) -> None:
    """Find the images and the spoken captions nearest to a sound, an image or a spoken text. Captions are not compared."""
    from components.search.queries import read_query
    from components.search.searcher import KINDS, Searcher

    check_outputs(page)
    if bool(query) == bool(text):
        hint = "give a file, or --text 'a dog on the grass'"
        raise HearsightError("needs a sound or an image, or --text, and only one", where="hearsight search", hint=hint)
    asked = read_query(query) if query else None
    searcher = Searcher.open(find_index_folder(index), encoder_weights)
    spoken_by = ""
    if asked is None:
        asked, spoken_by = _speak(text, voice, searcher)
    name = f"“{text}”" if text else "standard input" if query == "-" else Path(query).name
    for note in (spoken_by, *asked.notes, searcher.encoder.note(asked)):
        if note:
            print_error(f"note: {query or 'the text'}: {note}")
    kinds = KINDS if kind == "both" else (kind,)
    vector = searcher.encoder.embed(asked)
    found = searcher.find(vector, k, kinds, language=language, split=split)
    rows = [_row(result, searcher.folder) for each in kinds for result in found[each]]
    print_table(map(_short, rows) if sys.stdout.isatty() else rows, fit="caption")
    if page is not None:
        from components.stages.build_search_index.page import search_html

        publish_bytes(page, search_html(asked, name, searcher, found, audio_reader(searcher)).encode())


def _speak(text: str, voice: str, searcher: Searcher) -> tuple[Query, str]:
    """Return the speech of a text as a query, and a note on the voice."""
    from components.tools.describe.speech import speak_query  # here: as in search

    spoken = speak_query(text, (searcher.languages or ["en"])[0], voice)
    return spoken.query, f"spoken by {spoken.voice} and searched as speech: the model reads no text"


def find_index_folder(index: str) -> Path:
    """Return the folder of a dataset's index; ``index`` may also be that folder.

    Raises:
        HearsightError: there is no such index.
    """
    # Here: as in search.
    from components.search.searcher import DESCRIPTION, SEARCH

    path = Path(index)
    for folder in (path, path / SEARCH):
        if (folder / DESCRIPTION).is_file():
            return folder
    if path.is_dir() and "/" in index:
        raise HearsightError(
            "is no folder to search in", where=index, hint="name the folder search/ in the output of build_search_index"
        )
    graph = load_graph(find_root())
    datasets = sorted(graph.chain.get("build_search_index", {}))
    if index not in datasets:
        raise HearsightError(
            "is neither a dataset with an index nor an index folder", where=index, hint=f"known are {', '.join(datasets)}"
        )
    folder = graph.output("build_search_index", index)
    if not (folder / "manifest.json").is_file():
        raise HearsightError(
            "has no finished index", where=index, hint=f"run `dvc repro build_search_index@{index}`, or `dvc pull`"
        )
    return folder / SEARCH


def audio_reader(searcher: Searcher) -> Callable[[dict[str, Any]], bytes | None]:
    """Return a function from a result to the FLAC of its utterance, or to None when the project lacks the indexed speech."""
    try:
        speech = searcher.speech(find_root())
    except HearsightError:  # an index folder outside a project
        speech = None
    if speech is None:
        print_error("note: the indexed speech is not here, so the page has no players for it")
        return lambda item: None
    return lambda item: speech.read_media(item["media"])


def _row(result: SearchResult, folder: Path) -> dict[str, Any]:
    item = result.item
    columns = {name: item[name] for name in ("key", "captions", "languages", "splits", "image_sha256", "origin", "voice")}
    image = str(folder / item["thumbnail"]) if item["thumbnail"] else ""
    return {"kind": item["kind"], "rank": result.rank, "score": round(result.score, 6), **columns, "image": image}


def _short(row: dict[str, Any]) -> dict[str, Any]:
    """Return a result as a row of a table."""
    caption = " / ".join(dict.fromkeys(item["caption"] for item in row["captions"]))
    return {
        "kind": row["kind"], "rank": row["rank"], "score": f"{row['score']:.2f}", "caption": caption,
        "language": " ".join(row["languages"]), "split": " ".join(row["splits"]), "key": row["key"], "image": row["image"],
    }  # fmt: skip
