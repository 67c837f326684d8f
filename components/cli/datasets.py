"""``hearsight dataset`` and ``hearsight profile``: add a dataset of one's own, or an experiment that is ready to use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.params import FOLDER
from components.core.printing import print_error, print_json, print_result, print_text

app = typer.Typer(no_args_is_help=True, help="Datasets of your own.")


@app.callback()
def datasets() -> None:
    """Datasets of your own."""


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits and _.")],
    site: Annotated[str, typer.Option(metavar="URL", help="A live site, from this page on.")] = "",
    archive: Annotated[str, typer.Option(metavar="PATH", help="WARC, WAT or WACZ files: a path, a pattern, s3://.")] = "",
    table: Annotated[
        str, typer.Option(metavar="LAYOUT:FILE", help="A table of captions, as tsv:captions.tsv (docs/sources.md).")
    ] = "",
    language: Annotated[str, typer.Option(help="The language of a table's captions, ISO 639-1.")] = "en",
    images: Annotated[str, typer.Option(metavar="FOLDER", help="The folder of a table's images, if not its own.")] = "",
    posts: Annotated[
        str, typer.Option(metavar="SERVER#TAG", help="The posts of a hashtag: on a Mastodon server, or in a file (FILE#TAG).")
    ] = "",
    train: Annotated[bool, typer.Option("--train", help="A captioner is trained and tested on it too.")] = False,
    test: Annotated[bool, typer.Option("--test", help="A table that only tests: every captioner is tested on it.")] = False,
    retrieval: Annotated[
        str,
        typer.Option(
            metavar="OUTPUT", help="A table that only tests: the dual encoders of an output, as spoken/pretrain_retrieval."
        ),
    ] = "",
    listed: Annotated[
        str, typer.Option("--list", metavar="FILE", help="The names of a test set's images, one a line, or a file of Karpathy's.")
    ] = "",
    stages: Annotated[str, typer.Option(help="Stages, with commas between, instead of the usual ones.")] = "",
    contact: Annotated[str, typer.Option(help="URL or mail address that requests name; the open web needs one.")] = "",
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Ask addresses of private networks too: localhost, 10.0.0.1.")
    ] = False,
) -> None:
    """Add a dataset (datasets/<name>.yaml), with its stages in the chain, and print the next command."""
    # Imported here: `hearsight --help` needs no stage.
    from components.tools.datasets import models, source_options
    from components.tools.datasets.add import add_dataset

    given = [value for value in (site, archive, table, posts) if value]
    if len(given) != 1:
        raise HearsightError(
            "takes one source", where="hearsight dataset add", hint=f"give one of {', '.join(source_options.OPTIONS)}"
        )
    is_test = test or bool(retrieval)
    if (is_test and not table) or (listed and not is_test):
        what, hint = ("--list", "add --test or --retrieval") if table else ("--test, --retrieval and --list", "give --table")
        raise HearsightError(f"{what} cannot be used alone", where="hearsight dataset add", hint=hint)
    if train and is_test:
        raise HearsightError("--train and a test set exclude each other", where="hearsight dataset add", hint="add two datasets")
    root = find_root()
    if site:
        new = source_options.of_site(site)
    elif archive:
        new = source_options.of_archive(archive)
    else:
        new = source_options.of_table(table, language, images) if table else source_options.of_posts(posts, name)
    if is_test:
        new = models.make_test_set(name, table, new, load_graph(root), captioners=test, model=retrieval, listed=listed)
    if train:
        new = models.make_training_set(name, new, load_graph(root))
    if allow_private:
        new.crawl["allow_private"] = True
    chosen = [stage.strip() for stage in stages.split(",") if stage.strip()]
    last = add_dataset(root, name, new, chosen, contact)
    print_text(f"added {FOLDER}/{name}.yaml (see its settings by: hearsight params crawl -d {name} --changed)")
    for path in new.crawl["source"].get("inputs", []):
        if not any(mark in path for mark in ("://", "*", "?", "[")) and not (root / path).exists():
            print_error(f"warning: {path}: there is no such file yet")
    print_text(f"next: dvc repro {last}")
    print_text(f"then: hearsight show --dataset {models.CAPTIONERS if test else name}")
    if train:
        cell = new.inputs["evaluate_captioners"][models.CAPTIONERS].rpartition("/")[2]
        print_text(f"      hearsight describe photo.jpg --model {cell}")


@app.command()
def holdout(
    train: Annotated[Path, typer.Option(help="COCO's captions_train2014.json.")],
    val: Annotated[Path, typer.Option(help="COCO's captions_val2014.json, from which validation is drawn.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write train.txt and validation.txt into.")],
    size: Annotated[int, typer.Option(help="Images of validation.")] = 4000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 1,
) -> None:
    """Draw the split of COCO that Conceptual Captions trains on, as lists for split.lists."""
    from components.tools.datasets.holdout import write_holdout  # here: as above

    print_json(write_holdout(train, val, out, size, seed))


profiles = typer.Typer(no_args_is_help=True, help="Experiments that are ready to use with data of one's own.")


@profiles.command("list")
def list_profiles() -> None:
    """List the profiles: what each repeats, and the files, devices, disk and time that it needs."""
    # Here and below: as above.
    from components.tools.profiles.profile import profile_names, read_profile

    for name in profile_names():
        profile = read_profile(name)
        fields = {"profile": name, "title": profile.title, "files": profile.files, "needs": profile.needs}
        lines = [f"{name}: {profile.title}", *(f"  {file}: {what}" for file, what in profile.files.items())]
        print_result(fields, "\n".join([*lines, *(f"  {need}" for need in profile.needs)]))


@profiles.command("add")
def profile_add(
    name: Annotated[str, typer.Argument(help="One of `hearsight profile list`.")],
    data: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder with the files that the profile needs.")],
    contact: Annotated[str, typer.Option(help="URL or mail address that requests name; the open web needs one.")] = "",
) -> None:
    """Add a profile's datasets (datasets/*.yaml), and print the next commands."""
    from components.tools.profiles.profile import add_profile, read_profile

    profile = read_profile(name)
    add_profile(find_root(), profile, data, contact)
    print_text(f"added {name} to {FOLDER}/")
    if profile.captioners.sets:
        print_text(f"{FOLDER}/captioners.yaml now compares: {', '.join(profile.captioners.sets)}")
    for target in profile.targets:
        print_text(f"next: dvc repro {target}")
    print_text(f"all of them, as one job: hearsight experiments --data {data} --profile {name}")
