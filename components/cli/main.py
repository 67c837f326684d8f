"""``hearsight``: the command line. Each command is a thin cover over a library function.

Nothing heavy is imported before a command needs it, so ``--help`` is quick. Errors a user can correct are one line on
standard error and exit code 2; when standard output is not a terminal, results are JSON lines.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from components.cli.cache import app as cache
from components.cli.demo import app as demo_app
from components.cli.doctor import app as doctor_app
from components.cli.scoring import app as scoring_app
from components.cli.search import app as search_app
from components.cli.takedown import app as takedown
from components.cli.voices import app as voices_app
from components.core.printing import json_line, print_json, print_line, print_table, say, warn

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Turn web pages into described, spoken, de-duplicated image sets, and train and compare models on them.",
    epilog="Commands work on the project around the current folder: the nearest folder upwards that holds dvc.yaml and "
    "params.yaml. Set the environment variable HEARSIGHT_ROOT to that folder to run them from anywhere.",
)
snapshots = typer.Typer(no_args_is_help=True, help="Snapshots of the web, from which the crawl makes its records.")
app.add_typer(snapshots, name="snapshot")
app.add_typer(takedown, name="takedown")
app.add_typer(cache, name="cache")
app.add_typer(voices_app)
app.add_typer(doctor_app)
app.add_typer(scoring_app)
app.add_typer(search_app)
app.add_typer(demo_app)
tracking = typer.Typer(no_args_is_help=True, help="What stages have recorded for MLflow.")
app.add_typer(tracking, name="tracking")
knowledge = typer.Typer(
    no_args_is_help=True, help="The hypernyms of named entities: build a local index of Wikidata, ask single questions."
)
app.add_typer(knowledge, name="knowledge")
Dataset = Annotated[str, typer.Option("--dataset", "-d", help="A dataset of params.yaml:chain.")]


@app.command()
def run(stage: Annotated[str, typer.Argument(help="A stage of dvc.yaml.")], dataset: Dataset = "english") -> None:
    """Run one stage for one dataset (what `dvc repro` calls)."""
    from components.cli.stages import run as run_one

    raise typer.Exit(run_one(stage, dataset))


@app.command()
def check(stage: Annotated[str, typer.Argument(help="The stage whose output to check.")], dataset: Dataset = "english") -> None:
    """Check a stage's output against its manifest, its schema and its expectations."""
    from components.cli.stages import check as check_one

    raise typer.Exit(check_one(stage, dataset))


@app.command()
def retry(
    dataset: Dataset = "english",
    classes: Annotated[
        str,
        typer.Option(
            "--class", help="Failure classes, with commas between: timeout, connection, http_503, http_5xx, image_side ..."
        ),
    ] = "timeout,connection,http_5xx",
) -> None:
    """Request the failed answers of a complete snapshot again, and nothing else, and complete it anew."""
    from components.core.graph import find_root
    from components.tools.snapshots.retry import retry as retry_failed

    print_line(retry_failed(find_root(), dataset, [name.strip() for name in classes.split(",") if name.strip()]))


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
    """Read one alt-text a line from standard input; print verdict, caption and the steps between, one JSON object a line."""
    from components.core.graph import find_root

    if posts:
        _try_posts(dataset)
        return
    from components.tools.trial.texts import AT_A_TIME, Trial, read_lines, text_of

    trial, at_a_time = Trial(find_root(), dataset or "paper"), 1 if sys.stdin.isatty() else AT_A_TIME
    for result in trial.of(read_lines(sys.stdin.buffer), explain_all=explain_all, at_a_time=at_a_time):
        if sys.stdout.isatty():
            say(text_of(result))
        else:
            print_json(result)


def _try_posts(dataset: str) -> None:
    from components.core.graph import find_root
    from components.tools.trial.posts import PostTrial, text_of

    failed = False
    for answer in PostTrial(find_root(), dataset or "portuguese").lines(sys.stdin.buffer):
        if answer.result is None:
            failed = True
            warn(answer.problem)
        elif sys.stdout.isatty():
            say(text_of(answer.result))
        else:
            print_json(answer.result)
    if failed:
        raise typer.Exit(2)


@app.command()
def cost(
    dataset: Dataset = "english",
    language: Annotated[str, typer.Option(help="Assume this provider: embedded or google. Default: the parameter's.")] = "",
    vision: Annotated[str, typer.Option(help="Assume this provider: embedded or google. Default: the parameter's.")] = "",
    stage: Annotated[str, typer.Option(help="The stage to estimate: filter or synthesize.")] = "filter",
    voices: Annotated[str, typer.Option(help="Assume these voices, separated by commas. Default: the parameter's.")] = "",
) -> None:
    """Estimate what a run of filter or synthesize would request from paid providers at most, and the price. Requests nothing."""
    from components.core.errors import HearsightError
    from components.core.graph import find_root

    if stage == "synthesize":
        from components.tools.cost.speech import estimate as estimate_speech

        lines = estimate_speech(find_root(), dataset, [name.strip() for name in voices.split(",") if name.strip()])
    elif stage == "filter":
        from components.tools.cost.filtering import estimate

        lines = estimate(find_root(), dataset, language, vision)
    else:
        raise HearsightError(f"'{stage}' asks no paid provider", where="hearsight cost", hint="take filter or synthesize")
    print_table([line.plain() for line in lines])


@app.command()
def explain(
    what: Annotated[
        str,
        typer.Argument(help="A record's key (or its beginning), a page's or picture's address, or a picture's file or sha256."),
    ] = "",
    rule: Annotated[str, typer.Option("--rule", help="Instead: list what this rule dropped, e.g. page_over_budget.")] = "",
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="With --rule: only this dataset. Default: all.")] = "",
) -> None:
    """Print what each stage decided about a record and what each filter rule measured, or all that one rule dropped."""
    from components.core.errors import HearsightError
    from components.core.graph import find_root, load_graph
    from components.stages.filter.measured import measured_by_output
    from components.tracking.explain import dropped_by, with_rules
    from components.tracking.explain import explain as explain_record

    if bool(what) == bool(rule):
        raise HearsightError("names no record and no rule, or both", where="hearsight explain", hint="give one of them")
    if rule:
        return print_table(dropped_by(load_graph(find_root()), rule, dataset))
    graph = load_graph(find_root())
    lives = explain_record(graph, what)
    lives = with_rules(lives, measured_by_output(graph, [life.key for life in lives]))
    if sys.stdout.isatty():
        for life in lives:
            say(life.text())
    else:
        for life in lives:
            print_json(life.plain())


@app.command()
def lineage(
    target: Annotated[str, typer.Argument(help="A registered model (name@alias or name/version), a weights file, or dvc.lock.")],
) -> None:
    """Trace a model back to the pages it was made from, verifying digests; fail when one does not match."""
    from components.core.graph import find_root
    from components.tracking.lineage import lineage as walk
    from components.tracking.recorder import flush_or_warn

    flush_or_warn(root := find_root())
    print_table([step.plain() for step in walk(root, target)])


@app.command()
def show(dataset: Dataset = "english") -> None:
    """Print the results of a run, finished or not: records kept and dropped by stage, scores, and where its pages are."""
    from components.core.check_warnings import ABOUT, read_warnings, upstream
    from components.core.graph import find_root, load_graph
    from components.tracking.overview import finished, overview, pages
    from components.tracking.recorder import flush_or_warn

    root = find_root()
    flush_or_warn(root)
    graph = load_graph(root)
    done = finished(graph, dataset)
    last = next((stage for stage in ("report", "posts_report", "evaluate_captioners", "evaluate_retrieval") if stage in done), "")
    say(done[last].file("summary.txt").read_text() if last else overview(graph, dataset))
    if warnings := read_warnings(root, upstream(graph, dataset)):
        say(f"warnings of the checks: {len(warnings)}\n  {ABOUT}")
        for warning in warnings:
            say(f"  {warning.text}")
        say("")
    say("where to look")
    for what, place in (
        *pages(graph, dataset).items(),
        *((("checks (Data Docs)", docs),) if (docs := root / "reports" / "data_docs").is_dir() else ()),
        ("experiments, models, flow runs, all in a browser", "make ui"),
    ):
        say(f"  {what}: {place}")


@app.command()
def release(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write, which must not exist.")],
    dataset: Dataset = "english",
    licence: Annotated[str, typer.Option("--licence", help="The captions' licence, for the README.")] = "",
    subsets: Annotated[
        list[str] | None, typer.Option("--subset", help="Posts: NAME=N, a subset drawn from N collected posts. Repeatable.")
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option("--key-file", help="Posts: the file with the key that hashes users. Default: HEARSIGHT_RELEASE_KEY."),
    ] = None,
    mask_mentions: Annotated[
        bool, typer.Option("--mask-mentions", help="Posts: mask every account that captions mention, not only those of the set.")
    ] = False,
) -> None:
    """Write a finished dataset as files for others: captions of pages as TSV with labels; posts as dataset.json with pictures."""
    from components.core.graph import find_root
    from components.tools.release import release as write_release
    from components.tools.release.subsets import parse_subsets

    told = write_release(
        find_root(),
        dataset,
        out,
        licence,
        subsets=parse_subsets(subsets or []),
        key_file=key_file,
        mask_mentions=mask_mentions,
    )
    print_line(told)


@app.command()
def calibrate(
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="The dataset whose settings apply, and whose candidates are read without --alts."),
    ] = "english",
    rules: Annotated[list[str] | None, typer.Option("--rule", help="A rule to sweep. Repeatable. Default: all.")] = None,
    alts: Annotated[str, typer.Option("--alts", help="Alt-texts, one a line: a file, or - for standard input.")] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for index.html and rates.tsv.")] = Path(
        "reports/calibration"
    ),
) -> None:
    """Sweep the text rules' thresholds; write pass rates and sample alt-texts on both sides of each value as a page."""
    from components.core.graph import find_root
    from components.tools.calibrate import calibrate as sweep

    print_line(sweep(find_root(), dataset, rules or [], alts, out))


@app.command()
def data(
    serve: Annotated[bool, typer.Option("--serve", help="Afterwards serve the sample web on loopback until Ctrl-C.")] = False,
    dictionary: Annotated[
        bool, typer.Option("--dictionary", help="Fetch only the dictionary, which `hearsight try` needs.")
    ] = False,
    voices: Annotated[bool, typer.Option("--voices", help="Fetch only the speech engine flite.")] = False,
    benchmarks: Annotated[
        bool, typer.Option("--benchmarks", help="Fetch the pages and pictures that only benchmarks read as well.")
    ] = False,
) -> None:
    """Fetch the sample's packages of real pages and pictures (a second call fetches nothing)."""
    from components.core.graph import find_root
    from components.core.progress import progress
    from components.sample.packages import BENCHMARKS, DICTIONARY, PACKAGES, VOICES, fetch_packages

    root = find_root()
    only = (DICTIONARY if dictionary else ()) + (VOICES if voices else ())
    fetched = fetch_packages(root, progress, (only or PACKAGES) + (BENCHMARKS if benchmarks else ()))
    print_line({"packages": str(root / "data" / "packages"), "fetched": ", ".join(fetched) or "nothing: all were there"})
    if serve:
        from components.sample.serving import serve as serve_web

        serve_web(root)


@snapshots.command("next")
def snapshot_next(
    dataset: Dataset = "english",
    day: Annotated[str, typer.Option("--day", help="The day it is named after, as 2026-11-21. Default: today (UTC).")] = "",
) -> None:
    """Set a new snapshot, based on the last one, in params.yaml: the next crawl requests only what changed."""
    from datetime import UTC, date, datetime

    from components.core.errors import HearsightError
    from components.core.graph import find_root
    from components.tools.snapshots.next_snapshot import next_snapshot

    try:
        chosen = date.fromisoformat(day) if day else datetime.now(UTC).date()
    except ValueError:
        raise HearsightError(f"'{day}' is no day", where="--day", hint="write it as 2026-11-21") from None
    print_line(next_snapshot(find_root(), dataset, chosen))


@app.command()
def pairs(
    what: Annotated[list[str], typer.Argument(help="HTML, WARC, WAT or WACZ: files, addresses (http, s3), or - for stdin.")],
    base: Annotated[str, typer.Option(help="The base address of an HTML file's relative addresses.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Print images without alt-text or address, too.")] = False,
) -> None:
    """Print page, image address and alt-text as JSON lines. Unreadable input: a line on standard error, and exit code 2."""
    from components.core.errors import HearsightError
    from components.core.progress import progress
    from components.web.archives.any_input import iter_pairs, read_input

    failed = False
    for path in what:
        pages = read_input(path, base)
        try:
            for page in progress(pages, desc=f"{path}: pages") if sys.stderr.isatty() else pages:
                if page.failure:
                    failed = True
                    warn(f"{path}: {page.failure} at byte {page.offset}: {page.detail or page.url}")
                for pair in iter_pairs(page, every):
                    sys.stdout.write(json_line(pair) + "\n")
        except HearsightError as error:
            failed = True
            warn(str(error))
    sys.stdout.flush()
    if failed:
        raise typer.Exit(2)


@tracking.command("flush")
def tracking_flush() -> None:
    """Log the stage runs that wait for it, after the background process if it is at work; fails when MLflow cannot be reached."""
    from components.core.errors import HearsightError
    from components.core.graph import find_root
    from components.tracking.recorder import flush

    try:
        print_line({"logged": len(flush(find_root()))})
    except Exception as error:  # MLflow's and its server's own kinds
        line = " ".join(str(error).split())[:300]
        raise HearsightError(
            f"cannot be reached ({line})", where="MLflow", hint="start it and run this again: nothing is lost"
        ) from None


@knowledge.command("index")
def knowledge_index(
    dump: Annotated[Path, typer.Argument(help="Wikidata's JSON dump: latest-all.json, .gz or .bz2.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the index.")],
    min_sitelinks: Annotated[
        int, typer.Option("--min-sitelinks", min=0, help="Leave out items with fewer pages in Wikipedia and its sister projects.")
    ] = 1,
) -> None:
    """Build the local index of Wikidata that `hypernymize.knowledge: [wikidata_index]` reads."""
    from components.knowledge.wikidata.build import build_index

    about = build_index(dump, out, min_sitelinks)
    for line in about["broken_lines"]:
        warn(f"{dump}: {line}")
    print_line({key: about[key] for key in ("lines", "items", "entities", "names", "classes", "broken", "bytes", "digest")})


@knowledge.command("ask")
def knowledge_ask(
    name: Annotated[str, typer.Argument(help="A named entity, as written in a caption.")],
    kind: Annotated[str, typer.Argument(help="Its type: PERSON, GPE, LOC, FAC, ORG, EVENT, WORK_OF_ART, PRODUCT, LAW.")],
    dataset: Dataset = "english",
) -> None:
    """Look up the hypernym of one name in the dataset's knowledge sources, in order."""
    from components.core.graph import find_root
    from components.knowledge.setup import ask_once

    print_line(ask_once(find_root(), dataset, name, kind))


def main() -> None:
    """The console script."""
    from components.core.errors import HearsightError

    try:
        app(standalone_mode=True)
    except HearsightError as error:
        warn(str(error))
        raise SystemExit(2) from None
    except BrokenPipeError:
        # The reader (head, say) has seen enough.
        raise SystemExit(0) from None
    except OSError as error:
        from components.core.files import system_fault

        if (fault := system_fault(error)) is None:
            raise
        warn(str(fault))
        raise SystemExit(2) from None


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
