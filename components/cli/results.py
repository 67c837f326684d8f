"""``hearsight show``, ``drift``, ``explain``, ``lineage``, ``release``, ``verify-release``, ``tracking``, ``models``: results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import Dataset, check_outputs
from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.printing import print_error, print_line, print_result, print_table, print_text

app = typer.Typer()
tracking = typer.Typer(no_args_is_help=True, help="What stages have recorded for MLflow.")
app.add_typer(tracking, name="tracking")


@app.command()
def show(dataset: Dataset = "english") -> None:
    """Print what is there now: records kept and dropped by stage, what is older than its inputs, scores, and pages."""
    from components.tracking.overview import shown
    from components.tracking.recorder import flush_or_warn
    from components.tracking.states import output_states

    root = find_root()
    flush_or_warn(root)
    graph = load_graph(root)
    print_text(shown(graph, dataset, output_states(graph)))
    if others := [name for name in graph.datasets if name != dataset and "/" not in name]:
        print_text(f"other datasets, by --dataset NAME: {', '.join(others)}")


@app.command()
def drift(
    dataset: Dataset = "english",
    outside: Annotated[bool, typer.Option("--outside", help="Only what lies outside its usual range.")] = False,
) -> None:
    """Print the figures of a dataset's last day with their usual ranges of the days before: a table, or JSON lines in a pipe."""
    from components.core.stage_output import StageOutput
    from components.stages.drift import PAGE

    graph = load_graph(find_root())
    graph.require("drift", dataset)
    output = StageOutput(graph.output("drift", dataset))
    rows = [row for row in output.table().to_pylist() if row["finding"] or not outside]
    if not sys.stdout.isatty():
        return print_table(rows)
    print_text(output.file("summary.txt").read_text(encoding="utf-8") + f"page: {output.file(PAGE)}\n")
    for row in rows:
        row["usual"] = f"{row['low']:.4g} to {row['high']:.4g}" if row["low"] is not None else ""
        row["verdict"] = "outside" if row["finding"] else "usual" if row["usual"] else ""
        row["value"] = f"{row['value']:.4g}"
    print_table({name: row[name] for name in ("measure", "value", "usual", "of", "days", "verdict")} for row in rows)


@app.command()
def explain(
    what: Annotated[
        str,
        typer.Argument(
            help="A text, a record's key (or its beginning), a page's or image's address, or an image's file or sha256."
        ),
    ] = "",
    rule: Annotated[str, typer.Option("--rule", help="Instead: list what this rule dropped, e.g. page_over_budget.")] = "",
    kept: Annotated[
        bool, typer.Option("--kept", help="Instead: list the records that the last finished stage of captions keeps.")
    ] = False,
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="Only this dataset. Default: all.")] = "",
) -> None:
    """Print what each stage decided about a record, with each filter rule's value, threshold and setting; or list records."""
    from components.stages.filter.cascade import RULES
    from components.stages.filter.measured_values import measured_by_output
    from components.tracking.explain import explain as explain_record
    from components.tracking.history import add_rule_values
    from components.tracking.listings import dropped_by, kept_records

    if [bool(what), bool(rule), kept].count(True) != 1:
        raise HearsightError(
            "needs a record, --rule or --kept, and only one of them",
            where="hearsight explain",
            hint="'hearsight explain --kept' lists the kept records, '--rule RULE' what a rule dropped; each with its key",
        )
    graph = load_graph(find_root())
    if not what:
        if rule in RULES and sys.stdout.isatty():
            print_text(f"{rule}: {RULES[rule].meaning}")
        return print_table(kept_records(graph, dataset) if kept else dropped_by(graph, rule, dataset), fit="text")
    notes: list[str] = []
    histories = explain_record(graph, what, dataset, notes.append)
    histories = add_rule_values(histories, measured_by_output(graph, [history.key for history in histories]))
    for history in histories:
        print_result(history.plain(), history.text())
    for note in notes:
        print_error(note)


@app.command()
def lineage(
    target: Annotated[str, typer.Argument(help="A registered model (name@alias or name/version), a weights file, or dvc.lock.")],
) -> None:
    """Trace a model back to its crawl: each output with digest, run and commit, verified; fail when a digest does not match."""
    from components.tracking.lineage import trace_lineage
    from components.tracking.recorder import flush_or_warn

    flush_or_warn(root := find_root())
    print_table([step.plain() for step in trace_lineage(root, target)])


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
    speech: Annotated[
        bool, typer.Option("--speech/--no-speech", help="Whether finished speech of the captions is released.")
    ] = True,
    recordings_licence: Annotated[
        str,
        typer.Option(
            "--recordings-licence",
            help="The licence under which speakers agreed to publish their recordings; without it these are left out.",
        ),
    ] = "",
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="Also samples as parquet (hf is the same) or webdataset. Repeatable."),
    ] = None,
    images_licence: Annotated[
        str,
        typer.Option("--images-licence", help="Captions: the licence under which samples hold the images; without it, none do."),
    ] = "",
    summary: Annotated[
        bool, typer.Option("--summary", help="Also write a summary of training data, in the order of the AI Act's template.")
    ] = False,
) -> None:
    """Write a finished dataset as files for others: captions as TSV, posts as dataset.json with images, with their speech."""
    from components.tools.release.kinds import release as write_release
    from components.tools.release.posts import parse_subsets
    from components.tools.release.publish import list_releases, note_release

    list_releases(root := find_root())  # a list that cannot be read is an error before anything is written
    done = write_release(
        root,
        dataset,
        out,
        licence,
        subsets=parse_subsets(subsets or []),
        key_file=key_file,
        mask_mentions=mask_mentions,
        speech=speech,
        recordings_licence=recordings_licence,
        formats=formats or (),
        images_licence=images_licence,
        summary=summary,
    )
    note_release(root, out)
    print_line(done)


@app.command("verify-release")
def verify_release(folder: Annotated[Path, typer.Argument(help="The folder of a release.")]) -> None:
    """Verify a release: every file's digest, and that captions, images, audio and posts' splits can be imported again."""
    from components.tools.release.verify import verify_release as verify

    result = verify(folder)
    for line in result.errors:
        print_error(line)
    if result.errors:
        raise HearsightError(f"has {len(result.errors)} errors", where=folder, hint="get it again, or write it anew")
    print_line({"release": str(folder), **result.counts, "verified": "yes"})


@tracking.command("flush")
def tracking_flush() -> None:
    """Log the queued stage runs to MLflow, after a running background process; fails when MLflow cannot be reached."""
    from components.tracking.recorder import flush

    try:
        print_line({"logged": len(flush(find_root()))})
    except Exception as error:  # MLflow's and its server's own kinds
        line = " ".join(str(error).split())[:300]
        raise HearsightError(
            f"cannot be reached ({line})", where="MLflow", hint="start it and run this again: nothing is lost"
        ) from None


models = typer.Typer(no_args_is_help=True, help="Registered models, and which of their versions is the best.")


@models.command("list")
def list_models() -> None:
    """List all models: aliases, validation score, spread over seeds, and why `best` moved or not; and the imported ones."""
    from components.tools.describe.models import imported_models
    from components.tracking.best_alias import listed
    from components.tracking.record import connect
    from components.tracking.recorder import flush_or_warn

    flush_or_warn(root := find_root())
    imported = [{"model": one.name, "version": one.version, "note": f"in {one.language}"} for one in imported_models(root)]
    print_table([*listed(connect(root)), *imported])


@models.command()
def restore(
    name: Annotated[str, typer.Argument(help="A registered model, as english-t2t8x8-captioner.")],
    version: Annotated[str, typer.Option(help="The version that gets the alias. Default: the previous best.")] = "",
) -> None:
    """Move the alias `best` back to the previous version, or to any other; a second call undoes it."""
    from components.tracking.best_alias import restore as restore_best
    from components.tracking.record import connect
    from components.tracking.recorder import flush_or_warn

    flush_or_warn(root := find_root())
    print_line(restore_best(connect(root), name, version))


@models.command("export")
def export(
    name: Annotated[str, typer.Argument(help="A captioner, as english-t2t8x8.")],
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    licence: Annotated[str, typer.Option(help="The licence of the data it was trained on, for the model card.")] = "",
    outputs: Annotated[bool, typer.Option("--outputs", help="Use the project's outputs without asking MLflow.")] = False,
) -> None:
    """Write a captioner to one file for other projects: weights, vocabulary, encoder, and a model card with data and scores."""
    from components.tools.model_archive import UNSTATED, export_model

    check_outputs(file)
    card = export_model(find_root(), name, file, licence=licence, registry=not outputs)
    print_line({"file": str(file), "bytes": file.stat().st_size, "model": card["name"], "trained_on": card["trained_on"]})
    if card["licence_of_data"] == UNSTATED:
        print_error("the licence of its data is not stated: give --licence before you share it")


@models.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file of `hearsight models export`.")],
    name: Annotated[str, typer.Option(help="What this project calls it. Default: its name in the model card.")] = "",
    encoder: Annotated[
        Path | None, typer.Option(help="The file of its image encoder's weights, where no package has them.")
    ] = None,
) -> None:
    """Add a captioner of another project in models/NAME, so that `hearsight describe` uses it. Nothing in the file is run."""
    from components.tools.model_archive import import_model

    card = import_model(find_root(), file, name=name, encoder=encoder)
    about = {key: card.get(key) for key in ("language", "trained_on", "licence_of_data")}
    print_line({"model": card["name"], "use": f"hearsight describe IMAGE --model {card['name']}", **about})
    if model := card["encoder"].get("model"):
        print_error(f"it sees images by {model}, which is not in the file: `hearsight describe` loads it by this name")
