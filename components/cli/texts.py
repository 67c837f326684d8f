"""``hearsight try``, ``calibrate`` and ``pairs``: rules tried on texts, and texts read from pages."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.printing import json_line, print_error, print_line, print_result, print_text
from components.core.progress import progress

app = typer.Typer()


@app.command("try")
def try_(
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="The dataset whose parameters apply. Default: paper; with --posts: portuguese.")
    ] = "",
    explain_all: Annotated[
        bool, typer.Option("--explain-all", help="Report every rule, also those after the one that drops.")
    ] = False,
    posts: Annotated[
        bool,
        typer.Option(
            "--posts", help="Read captions of posts, each a JSON string; print the description in each, or why there is none."
        ),
    ] = False,
) -> None:
    """Read one alt-text a line from standard input; print verdict, caption and the steps between, one JSON object a line.

    Rules that need an image or other captions are left out, and names are looked up in the embedded source of knowledge only.
    """
    if posts:
        _try_posts(dataset)
        return
    from components.knowledge.people import count_people, missing_people
    from components.tools.trial import AT_A_TIME, Trial, read_lines, text_of

    trial, at_a_time = Trial(find_root(), dataset or "paper"), 1 if sys.stdin.isatty() else AT_A_TIME
    unknown = 0
    for result in trial.of(read_lines(sys.stdin.buffer), explain_all=explain_all, at_a_time=at_a_time):
        print_result(result, text_of(result))
        unknown += count_people([result["steps"]])[1]
    if unknown:
        print_error(missing_people(["embedded"]))


def _try_posts(dataset: str) -> None:
    from components.tools.trial import PostTrial, post_text

    failed = False
    for result, problem in PostTrial(find_root(), dataset or "portuguese").lines(sys.stdin.buffer):
        if result is None:
            failed = True
            print_error(problem)
        else:
            print_result(result, post_text(result))
    if failed:
        raise typer.Exit(2)


@app.command()
def calibrate(
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="The dataset whose settings apply, and whose candidates are read without --alts."),
    ] = "english",
    rules: Annotated[list[str] | None, typer.Option("--rule", help="A rule to sweep. Repeatable. Default: all.")] = None,
    alts: Annotated[str, typer.Option(help="Alt-texts, one a line: a file, or - for standard input.")] = "",
    published: Annotated[
        str, typer.Option(help="Published captions, one a line: also show which of them each rule drops, at each threshold.")
    ] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for rates.tsv and samples.tsv.")] = Path(
        "reports/calibration"
    ),
) -> None:
    """Sweep the text rules' thresholds; write what each value keeps, and sample alt-texts on both sides of each value."""
    from components.tools.calibrate.run import calibrate as sweep

    result = sweep(find_root(), dataset, rules or [], alts, out, published)
    print_line(result)
    if sys.stdout.isatty():
        passing = f"{result['pass_all']:,} of {result['candidates']:,} texts pass every text rule with the settings of {dataset}"
        print_text(f"{passing}; what other values keep: {result['rates']}")


@app.command()
def pairs(
    what: Annotated[list[str], typer.Argument(help="HTML, WARC, WAT or WACZ: files, addresses (http, s3), or - for stdin.")],
    base: Annotated[str, typer.Option(help="The base address of an HTML file's relative addresses.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Print images without alt-text or address, too.")] = False,
) -> None:
    """Print page, image address and alt-text as JSON lines; what an archive holds besides pages is counted on standard error.

    Unreadable input: a line on standard error, and exit code 2.
    """
    from components.web.archives import summarize
    from components.web.archives.any_input import iter_pairs, read_input

    failed = False
    for path in what:
        skipped, readable = Counter[str](), Counter[bool]()
        pages = read_input(path, base, skipped)
        try:
            for page in progress(pages, desc=f"{path}: pages") if sys.stderr.isatty() else pages:
                readable[not page.failure] += 1
                if page.failure:
                    failed = True
                    print_error(f"{path}: {page.failure} at byte {page.offset}: {page.detail or page.url}")
                for pair in iter_pairs(page, every):
                    sys.stdout.write(json_line(pair) + "\n")
            if skipped or not readable:
                print_error(f"{path}: {summarize(readable[True], skipped)}")
        except HearsightError as error:
            failed = True
            print_error(str(error))
    sys.stdout.flush()
    if failed:
        raise typer.Exit(2)


@app.command("train-segments")
def train_segments(
    files: Annotated[
        list[Path], typer.Argument(help="JSON lines with `caption` and its `description` or null. Twice counts double.")
    ],
    language: Annotated[str, typer.Option(help="The language of the captions (ISO 639-1).")] = "pt",
    about: Annotated[str, typer.Option(help="What the captions are; the file of weights says it.")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file of weights. Default: that of the project.")] = None,
) -> None:
    """Learn which segments of a post's caption describe an image, and write the weights."""
    from components.stages.extract_descriptions import LISTS
    from components.tools.train_segments import train

    path = out or LISTS / f"segments.{language}.json"
    print_line(train(files, path, language, about) | {"weights": str(path)})
