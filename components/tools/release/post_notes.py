"""Write README.md, the statistics, and the datasheet (Markdown and HTML) of a release of posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from components.reporting.pages import render
from components.tools.release.notes import NO_LICENCE
from components.tools.release.post_facts import PostFacts, statistics_tsv
from components.tools.release.publish import SUMS
from components.tools.release.sheet import (
    QUESTIONS,
    SECTIONS,
    Answer,
    SheetData,
    answer_questions,
    list_unanswered,
    read_publisher,
)

if TYPE_CHECKING:
    from components.tools.release.made import ReleaseInputs
    from components.tools.release.posts import PostOptions

STATISTICS = "statistics.tsv"
SHEET = "datasheet"
CITATION = """\
- Gabriel Oliveira dos Santos, Esther Luna Colombini and Sandra Avila. 2022. #PraCegoVer: A Large Dataset for Image Captioning in
  Portuguese. Data 7(2), 13. (the method)
- Timnit Gebru, Jamie Morgenstern, Briana Vecchione, Jennifer Wortman Vaughan, Hanna Wallach, Hal Daumé III and Kate Crawford.
  2021. Datasheets for Datasets. Communications of the ACM 64, 86–92. (the datasheet)
"""


def write_notes(root: Path, inputs: ReleaseInputs, facts: PostFacts, folder: Path, options: PostOptions) -> list[str]:
    """Write all notes; return the names of the publishers' fields that are empty.

    Raises:
        HearsightError: the publishers' block of params.yaml is not valid.
    """
    publisher = read_publisher(root, inputs.dataset, options.licence)
    data = SheetData(inputs.dataset, facts, inputs.settings, publisher, options.mask_mentions, _software())
    answers = answer_questions(data)
    (folder / STATISTICS).write_text(statistics_tsv(facts, inputs.dataset), encoding="utf-8")
    (folder / f"{SHEET}.md").write_text(as_markdown(inputs.dataset, answers), encoding="utf-8")
    (folder / f"{SHEET}.html").write_text(as_page(inputs.dataset, answers), encoding="utf-8")
    (folder / "README.md").write_text(readme(data), encoding="utf-8")
    return list_unanswered(publisher)


def as_markdown(dataset: str, answers: Mapping[str, Answer]) -> str:
    """Return the datasheet as Markdown."""
    lines = [f"# Datasheet of {dataset}", "", "After Gebru et al. 2021; questions are numbered as in #PraCegoVer section 6.", ""]
    for number, answer in answers.items():
        if number.endswith(".1") and number.count(".") == 2:
            section = number.rpartition(".")[0]
            lines += [f"## {section} {SECTIONS[section]}", ""]
        lines += [f"### {number} {QUESTIONS[number]}", ""]
        for text in answer.paragraphs:
            lines += [text, ""]
        if answer.table:
            head, *rows = answer.table
            lines += [_row(head), _row(["---"] * len(head)), *map(_row, rows), ""]
    return "\n".join(lines)


def as_page(dataset: str, answers: Mapping[str, Answer]) -> str:
    """Return the datasheet as a page."""
    templates = Path(__file__).parent / "data"
    return render(templates, "datasheet.html", dataset=dataset, answers=answers, sections=SECTIONS, questions=QUESTIONS)


def readme(data: SheetData) -> str:
    """Return the text of README.md."""
    facts, name = data.facts, data.dataset
    rows = "\n".join(
        _row([subset or name, f"{parts[''].posts:,}", *(f"{parts[split].posts:,}" for split in ("train", "validation", "test")),
              f"{len(parts[''].users):,}", f"{parts[''].captions.unique:,}", f"{parts[''].captions.mean:.1f}",
              f"{parts[''].captions.deviation:.1f}"])
        for subset, parts in facts.parts.items()
    )  # fmt: skip
    subsets = "".join(
        f"| `subsets/{subset}/` | the same for a subset: what was left of the posts drawn for it |\n"
        for subset in facts.parts
        if subset
    )
    stated = " ".join(data.publisher["contact"].split())
    contact = f"Requests go to: {stated}." if stated else "The publishers state no contact: ask whoever gave you this."
    others = "masked too" if data.mask_mentions else "as their authors wrote them"
    return f"""\
# {name}: {facts.whole.posts:,} pictures with descriptions by their posters

Public posts whose authors describe the picture for people who do not see it, collected and cleaned by Hearsight after the method
of #PraCegoVer. `datasheet.md` (or `.html`) tells what is in it, where it came from, and what to mind when using it.

## Files

| file | holds |
|---|---|
| `dataset.json` | a list of objects: user, filename, raw_caption, caption, date |
| `images.tar.gz` | `images/<filename>`, one for each object |
| `sample/` | five instances in the same layout, unpacked |
| `splits/` | `train.json`, `validation.json`, `test.json`: lists of file names; no owner is in two |
{subsets}| `{STATISTICS}` | posts, owners, vocabulary, words a caption (mean, sd) by set and split |
| `settings.json` | the settings of every stage but the crawl, and the digest of the data |
| `{SUMS}` | sha256 of each file: `sha256sum --check {SUMS}` |

## Statistics

| set | posts | train | validation | test | owners | vocabulary | words a caption: mean | sd |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
{rows}

Words are those of captions in lower case without punctuation; sd is the population's.

## People

`user` is a keyed hash of the account, and so is a file name of its post; the key is not part of the release. Accounts of the set
are replaced by their user wherever captions mention them; other mentions are {others}.
Metadata inside the pictures' files were removed. People can still be recognised in pictures and by what captions say. Do
not try to find out who wrote a post.

**Taking down.** {contact}
Who asks for a post to be removed should be heard: it is an object of `dataset.json`, a file of the archive and a line of
its split.

## Licence

{" ".join(data.publisher["licence"].split()) or NO_LICENCE}

Posts belong to those who wrote them, pictures to those who inputs them.

## How to cite

{CITATION}"""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _software() -> str:
    try:
        return f"Hearsight {version('hearsight')}"
    except PackageNotFoundError:
        return "Hearsight"
