"""``hearsight try``, ``calibrate``, ``train-description`` and ``pairs``: rules on texts, and texts read from pages."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import check_outputs
from components.core.errors import HearsightError
from components.core.graph import find_root
from components.core.printing import json_line, print_error, print_line, print_result, print_table, print_text
from components.core.progress import progress

app = typer.Typer()


@app.command("try")
def try_(
    files: Annotated[list[str] | None, typer.Argument(help="With --pages: HTML, WARC, WAT or WACZ, or - for stdin.")] = None,
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset",
            "-d",
            help="The dataset whose parameters apply. Default: paper; of --pages those of a new dataset; of --posts portuguese.",
        ),
    ] = "",
    pages: Annotated[
        bool, typer.Option("--pages", help="Judge the alt-texts of the images of FILES, each with its page around it.")
    ] = False,
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

    With --pages the alt-texts are those of the images of pages, and a terminal shows how many each rule drops. Rules that need an
    image or other captions are left out, and names are looked up in the embedded source of knowledge only.
    """
    if pages or files:
        if posts or explain_all or not (pages and files):
            hint = "write hearsight try --pages FILE..., without --posts and --explain-all"
            raise HearsightError("files go with --pages alone", where="hearsight try", hint=hint)
        _try_pages(files, dataset)
        return
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


def _try_pages(files: list[str], dataset: str) -> None:
    from components.tools.trial import TEXT, Trial, judge_pages, read_pages, summary_rows, table_row

    trial = Trial(find_root(), dataset)
    problems, everything = list[str](), []
    for page, results in judge_pages(trial, read_pages(files, problems)):
        everything += results
        if sys.stdout.isatty():
            print_text(f"\n{page.url}")
            print_table(map(table_row, results), fit=TEXT)
        else:
            print_table(results)
    if sys.stdout.isatty() and everything:
        print_text("")
        print_table(summary_rows(everything))
    for problem in problems:
        print_error(problem)
    if problems:
        raise typer.Exit(2)


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
    rules: Annotated[list[str] | None, typer.Option("--rule", help="A rule to sweep. Repeatable. Default: all on texts.")] = None,
    alts: Annotated[str, typer.Option(help="Alt-texts, one a line: a file, or - for standard input.")] = "",
    published: Annotated[
        str, typer.Option(help="Published captions, one a line: also show which of them each rule drops, at each threshold.")
    ] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the tables.")] = Path("reports/calibration"),
    labelled: Annotated[
        str,
        typer.Option(
            help="Alt-texts with a verdict (JSON lines or CSV: text, verdict, and what is known of the page): also show precision"
            " and recall of every rule. Read without --alts."
        ),
    ] = "",
    pass_rate: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Also show the threshold by which each rule keeps this share of what no other rule drops."
        ),
    ] = None,
) -> None:
    """Sweep thresholds of rules on texts, or of image_text; write what each value keeps, and alt-texts on both sides of each."""
    from components.tools.calibrate.run import calibrate as sweep

    result = sweep(find_root(), dataset, rules or [], alts, out, published, labelled, pass_rate)
    measured = result.pop("rules", [])
    print_line(result)
    if sys.stdout.isatty():
        if measured:
            print_table(measured)
        passing = f"{result['pass_all']:,} of {result['candidates']:,} texts pass every text rule with the settings of {dataset}"
        print_text(f"{passing}; what other values keep: {result['rates']}")


@app.command("train-description")
def train_description(
    captions: Annotated[list[Path] | None, typer.Option(help="Captions, one a line, as people write them. Repeatable.")] = None,
    published: Annotated[
        list[Path] | None, typer.Option(help="Captions in lower case, split into tokens, one a line. Repeatable.")
    ] = None,
    pages: Annotated[
        list[str] | None,
        typer.Option(help="HTML or WARC, or a folder of such: their titles, headings, links, buttons. Repeatable."),
    ] = None,
    labelled: Annotated[
        list[Path] | None, typer.Option(help="Alt-texts with a verdict, as for `hearsight calibrate --labelled`. Repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file of weights. Default: that of the project.")] = None,
    date: Annotated[str, typer.Option(help="The date that the file names. Default: today.")] = "",
) -> None:
    """Learn the score of description from captions, texts of pages and labelled alt-texts; write its weights."""
    # Here: `hearsight --help` needs no parser.
    from components.stages.filter.description import weights_path
    from components.tools.train_description.train import train

    check_outputs(out)
    sources = {"--captions": captions, "--published": published, "--pages": pages, "--labelled": labelled}
    command = " ".join(f"{option} {len(files)} files" for option, files in sources.items() if files)
    files = [str(file) for each in pages or () for file in (sorted(Path(each).iterdir()) if Path(each).is_dir() else [each])]
    path = out or weights_path("en")
    about = train(
        captions or (), published or (), files, labelled or (), path,
        date=date or datetime.now(UTC).date().isoformat(), command=f"hearsight train-description {command}",
    )  # fmt: skip
    print_line(about | {"weights": str(path)})


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
