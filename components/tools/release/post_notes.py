"""Write README.md, the statistics, and the datasheet (Markdown and HTML) of a release of posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from components.reporting.pages import render
from components.tools.release.card import Card
from components.tools.release.inputs import ReleaseInputs
from components.tools.release.instances import PostOptions
from components.tools.release.notes import NO_LICENCE, fill_template
from components.tools.release.post_facts import PostFacts, statistics_tsv
from components.tools.release.publish import SUMS
from components.tools.release.sheet import (
    QUESTIONS,
    SECTIONS,
    Answer,
    SheetData,
    answer_questions,
)

STATISTICS = "statistics.tsv"
SHEET = "datasheet"


def write_notes(
    inputs: ReleaseInputs, facts: PostFacts, folder: Path, options: PostOptions, publisher: Mapping[str, str], card: Card
) -> None:
    """Write all notes."""
    data = SheetData(inputs.dataset, facts, inputs.settings, publisher, options.mask_mentions, _software())
    answers = answer_questions(data)
    (folder / STATISTICS).write_text(statistics_tsv(facts, inputs.dataset), encoding="utf-8")
    (folder / f"{SHEET}.md").write_text(as_markdown(inputs.dataset, answers), encoding="utf-8")
    (folder / f"{SHEET}.html").write_text(as_page(inputs.dataset, answers), encoding="utf-8")
    (folder / "README.md").write_text(readme(data, card), encoding="utf-8")


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


def readme(data: SheetData, card: Card) -> str:
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
    return fill_template(
        "readme_posts.md",
        front=card.front,
        sections=card.sections,
        name=name,
        posts=facts.whole.posts,
        subsets=subsets,
        statistics=STATISTICS,
        sums=SUMS,
        rows=rows,
        others=others,
        contact=contact,
        licence=" ".join(data.publisher["licence"].split()) or NO_LICENCE,
    )


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _software() -> str:
    try:
        return f"Hearsight {version('hearsight')}"
    except PackageNotFoundError:
        return "Hearsight"
