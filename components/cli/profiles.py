"""``hearsight profile``: experiments that are ready to use with data of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.core.graph import find_root
from components.core.params import FOLDER
from components.core.printing import print_result, print_text

app = typer.Typer(no_args_is_help=True, help="Experiments that are ready to use with data of one's own.")


@app.command(name="list")
def list_profiles() -> None:
    """List the profiles: what each repeats, and the files, devices, disk and time that it needs."""
    # Imported here and below: `hearsight --help` needs no stage.
    from components.tools.profiles.profile import profile_names, read_profile

    for name in profile_names():
        profile = read_profile(name)
        fields = {"profile": name, "title": profile.title, "files": profile.files, "needs": profile.needs}
        lines = [f"{name}: {profile.title}", *(f"  {file}: {what}" for file, what in profile.files.items())]
        print_result(fields, "\n".join([*lines, *(f"  {need}" for need in profile.needs)]))


@app.command()
def add(
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
