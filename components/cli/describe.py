"""``hearsight describe``, ``compare`` and ``feedback``: captions of images, of several models too, and remarks on one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from tqdm import tqdm

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import find_root
from components.core.printing import escape_controls, json_line, print_error, print_json, print_table, print_text
from components.core.progress import print_progress, progress

if TYPE_CHECKING:
    from components.tools.describe.describer import Describer, Description
    from components.tools.describe.page import DescribedPage


app = typer.Typer()
PAGES = (".html", ".htm", ".xhtml")
"""Endings of local pages."""


@app.command()
def describe(
    what: Annotated[list[str], typer.Argument(help="Images, folders of images, pages (.html), or addresses (http, https).")],
    language: Annotated[
        Literal["en", "pt", "fr", "es"],
        typer.Option("--language", "-l", help="Of the captions. Without a captioner for it: captions of similar images."),
    ] = "en",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to write to. Default, where files are written: descriptions.")
    ] = None,
    speak: Annotated[bool, typer.Option("--speak", help="Also write each caption as speech (FLAC).")] = False,
    model: Annotated[
        str,
        typer.Option(
            help="A captioner (english-t2t8x8), a dataset with a search index, `server`, or a hub's model (ID@COMMIT, a folder). "
            "Default: `describe.model`, or the lightest captioner."
        ),
    ] = "",
    sure: Annotated[
        float | None, typer.Option(help="The confidence from which a caption is sure, 0 to 1. Default: as measured.")
    ] = None,
    notes: Annotated[Literal["en", "pt"], typer.Option(help="The language of notes on limits.")] = "en",
    format_: Annotated[
        Literal["html", "json"], typer.Option("--format", help="Of a page with --out: the page with alt-texts, or the proposals.")
    ] = "html",
    empty: Annotated[bool, typer.Option("--empty", help="Of a page: also describe images with an empty alt-text.")] = False,
    outputs: Annotated[bool, typer.Option("--outputs", help="Use the project's outputs without asking MLflow.")] = False,
) -> None:
    """Describe images: a caption with its confidence, and the text in the image. What is not sure says so.

    A folder's descriptions are kept in descriptions.jsonl, and a second call describes new and changed images only. A page is
    written back with proposals for its images without alt-text. Unusable images: a line each, and exit code 2.
    """
    from components.tools.describe.describer import Describer

    describer = Describer.open(find_root(), language, model=model, threshold=sure, interface=notes, registry=not outputs)
    printer = Printer(describer, out or Path("descriptions"), speak=speak, as_json=not sys.stdout.isatty())
    for source in what:
        try:
            if source.lower().startswith(("http://", "https://")):
                _describe_address(printer, source, out, format_, empty)
            elif Path(source).is_dir():
                _describe_folder(printer, Path(source))
            elif Path(source).suffix.lower() in PAGES:
                _describe_local_page(printer, source, out, format_, empty)
            else:
                _describe_file(printer, source)
        except HearsightError as error:
            printer.fail(str(error))
    if printer.failed:
        raise typer.Exit(2)


class Printer:
    """Prints descriptions, writes their speech, and remembers whether anything failed."""

    def __init__(self, describer: Describer, out: Path, *, speak: bool, as_json: bool) -> None:
        from components.tools.describe.folder import ResultNames

        self.describer, self.speak, self.as_json, self.failed = describer, speak, as_json, False
        self.names = ResultNames(out)
        self._voice, self._introduced = "", as_json
        if speak:
            from components.tools.describe.voices import better_voice, default_voice

            self._voice = default_voice(describer.language)
            if better := better_voice(describer.language):
                print_error(better)

    def fail(self, line: str) -> None:
        """Print an error and remember it."""
        self.failed = True
        print_progress(f"hearsight: {line}")  # above the bar of a folder

    def show(self, name: str, line: dict[str, Any]) -> None:
        """Print one description, as :meth:`Description.plain` has it."""
        if not self._introduced:
            self._introduced = True
            print_text(f"{line['model']}: {line['trained_on']}")
        if self.as_json:
            print_json({"file": name} | line)
        else:
            shown = f"{name}: {line['alt'] or '-'}   ({line['word']}, {line['confidence']:.2f})"
            tqdm.write(escape_controls(shown), file=sys.stdout)

    def show_limits(self, limits: Sequence[str]) -> None:
        """Print what the model cannot do, once for a person."""
        if limits and not self.as_json:
            print_text("\n".join(f"  {line}" for line in limits))

    def write_speech(self, name: str, source: str | Path, text: str, *, reused: bool = False) -> None:
        """Write the speech of a caption of an input, if asked for; nothing without a text, or where a reused one has it."""
        if not self.speak or not text:
            return
        from components.tools.describe.speech import say

        path = self.names.path(f"{name}.flac", source)
        if not (reused and path.is_file()):
            publish_bytes(path, say(text, self._voice).clip.flac)
            print_progress(f"hearsight: spoken: {path}")


def _describe_file(printer: Printer, source: str) -> None:
    from components.vision.image_files import read_image_file

    _show_one(printer, source, Path(source), printer.describer.describe(read_image_file(Path(source)), source))


def _show_one(printer: Printer, name: str, source: str | Path, description: Description) -> None:
    printer.show(name, description.plain())
    printer.show_limits(description.limits)
    printer.write_speech(Path(name).name, source, description.alt)


def _describe_folder(printer: Printer, folder: Path) -> None:
    from components.tools.describe.folder import RESULTS, describe_folder, find_images

    files = find_images(folder)
    if not files:
        raise HearsightError("holds no images", where=folder, hint="name a folder with JPEG, PNG, GIF, WebP, BMP or TIFF files")
    path = printer.names.path(RESULTS, f"{folder.resolve()} in {printer.describer.language}")
    reused, limits = 0, list[str]()
    results = describe_folder(printer.describer, folder, path, files)
    for result in progress(results, total=len(files), desc=f"{folder}: images"):
        if not result.error:
            printer.write_speech(result.file, folder / result.file, result.line["alt"], reused=result.reused)
        if result.error:
            printer.fail(result.error)
        elif result.reused:
            reused += 1
        else:
            printer.show(result.file, result.line)
            limits = result.line["limits"]
    printer.show_limits(limits)
    print_error(f"{path}: {len(files)} images, {reused} of them described before")


def _describe_local_page(printer: Printer, source: str, out: Path | None, format_: str, empty: bool) -> None:
    # Here: reading pages loads compiled code, which images do not need.
    from components.tools.describe.sources import describe_local_page

    page = describe_local_page(printer.describer, Path(source), root=find_root(), empty=empty)
    _show_page(printer, source, Path(source), Path(source).stem, page, out, format_)


def _describe_address(printer: Printer, url: str, out: Path | None, format_: str, empty: bool) -> None:
    from components.tools.describe.page import DescribedPage
    from components.tools.describe.sources import describe_address

    at, found = describe_address(printer.describer, url, root=find_root(), empty=empty)
    if isinstance(found, DescribedPage):
        name = Path(at.partition("?")[0].partition("//")[2].partition("/")[2]).name.partition(".")[0] or "page"
        _show_page(printer, url, url, name, found, out, format_)
    else:
        _show_one(printer, url, url, found)


def _show_page(
    printer: Printer, where: str, source: str | Path, name: str, page: DescribedPage, out: Path | None, format_: str
) -> None:
    """Print the proposals of a page, and write it back to ``out``."""
    for proposal in page.proposals:
        image = f"{where} image {proposal.image.position}"
        if proposal.description is None:
            printer.fail(f"{image}: {proposal.error}")
        else:
            printer.show(image, proposal.description.plain() | {"src": proposal.image.source})
            printer.write_speech(f"{name}-{proposal.image.position}", source, proposal.description.alt)
    printer.show_limits(next((one.description.limits for one in page.proposals if one.description), ()))
    if not page.proposals:
        print_error(f"{where}: every image has an alt-text")
    if out is None:
        return
    if format_ == "html":
        data = page.html()
    else:
        about = {"page": where, "images": [proposal.plain() for proposal in page.proposals]}
        data = (json_line(about) + "\n").encode()
    written = printer.names.path(f"{name}.{format_}", source)
    publish_bytes(written, data)
    print_error(f"wrote {written}")


@app.command()
def compare(
    folder: Annotated[Path, typer.Argument(help="A folder of images; captions.csv in it (file,caption) holds references.")],
    models: Annotated[list[str], typer.Option("--model", help="As of `describe`. Repeatable.")],
    language: Annotated[Literal["en", "pt", "fr", "es"], typer.Option("--language", "-l", help="Of the captions.")] = "en",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path("comparison"),
    clip_score: Annotated[
        str, typer.Option(help="A CLIP or SigLIP model (ID@COMMIT or a folder) that scores captions without references.")
    ] = "",
    outputs: Annotated[
        bool, typer.Option("--outputs", help="Use the project's outputs without asking MLflow for models.")
    ] = False,
) -> None:
    """Compare what models say about the images of a folder: a page, a table, scores where references exist, runs in MLflow.

    Descriptions are kept, and a second call describes new and changed images only. Unusable images: a line each, and exit code 2.
    """
    from components.tools.describe.compare import compare as compare_models

    failed: list[str] = []

    def fail(line: str) -> None:
        failed.append(line)
        print_progress(f"hearsight: {line}")  # above the bar

    options: dict[str, Any] = {"language": language, "clip_score": clip_score, "registry": not outputs, "fail": fail}
    compared = compare_models(find_root(), folder, models, out, **options)
    print_table([{"model": one.model, "version": one.version, **one.figures} for one in compared])
    print_error(f"the page and the table are in {out}")
    if failed:
        raise typer.Exit(2)


@app.command()
def feedback(
    text: Annotated[str, typer.Argument(help="The alt-text; - reads it from standard input.")] = "-",
    image: Annotated[
        Path | None, typer.Option(help="Its image: also compare format, size and content with an English text.")
    ] = None,
    language: Annotated[Literal["en", "pt"], typer.Option("--language", "-l", help="The language of the text.")] = "en",
    notes: Annotated[Literal["en", "pt"], typer.Option(help="The language of the remarks.")] = "en",
    every: Annotated[
        bool, typer.Option("--all", help="On a terminal: also list what the text passes, and what is not checked.")
    ] = False,
) -> None:
    """Say which filter rules of the paper an alt-text breaks, what could be better about it, and what is not checked."""
    from components.tools.feedback.feedback import feedback as remarks_on
    from components.tools.feedback.feedback import remarks_text
    from components.vision.image_files import read_image_file

    given = sys.stdin.buffer.read(1 << 20).decode("utf-8", "replace") if text == "-" else text
    data = read_image_file(image) if image is not None else None
    remarks = remarks_on(given, language, image=data, root=find_root(), interface=notes, where=str(image))
    if sys.stdout.isatty():
        print_text(remarks_text(remarks, notes, every=every))
        return
    for remark in remarks:
        print_json(remark._asdict())
