"""Build the minimal base of a Debian release in a folder, and run commands in it as in an empty machine.

What this machine reaches package registries with (apt's sources and settings, pip's settings, folders of wheels, certificates,
proxies) is taken along where it is set, and nothing else of it: the environment inside is empty otherwise.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

RELEASES = {"debian12": "bookworm", "debian13": "trixie"}
"""Release → apt's name of it."""
PACKAGES = ("python3", "python3-venv", "make", "git", "ca-certificates")
USER, UID = "plain", 4321
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
SETTINGS = ("http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CERT",
            "UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS", "SSL_CERT_FILE", "SSL_CERT_DIR")  # fmt: skip
"""Variables that say how registries are reached."""


def settings() -> dict[str, str]:
    """Return the variables of ``SETTINGS`` that are set, in either case for proxies."""
    names = [*SETTINGS, *(name.upper() for name in SETTINGS if name.endswith("proxy"))]
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def build(root: Path, suite: str) -> None:
    """Install a release's base and ``PACKAGES`` into the folder ``root``, which must not exist; add the unprivileged user.

    Raises:
        SystemExit: this is not root, debootstrap or a mirror is absent, or it failed; the message names its log.
    """
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise SystemExit("bare: needs root and debootstrap (apt-get install debootstrap)")
    root.mkdir(parents=True)
    log = root.with_name(f"{root.name}.log")
    mirror = os.environ.get("DEBIAN_MIRROR") or _mirror()
    if not mirror:
        raise SystemExit("bare: apt's sources here name no Debian mirror; name one: DEBIAN_MIRROR=ADDRESS make bare")
    command = ["debootstrap", "--variant=minbase", suite, str(root), mirror]
    with log.open("wb") as out:
        if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode != 0:
            raise SystemExit(f"bare: debootstrap failed; see {log}")
    take_settings_along(root, suite)
    with mounted(root):
        for command in (
            ["apt-get", "update", "--quiet"],
            # Not by debootstrap, which does not know that one package can provide another.
            ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *PACKAGES],
            ["useradd", "--uid", str(UID), "--create-home", USER],
        ):
            with log.open("ab") as out:
                done = subprocess.run(
                    inside(root, command, {"DEBIAN_FRONTEND": "noninteractive"}),
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
            if done.returncode != 0:
                raise SystemExit(f"bare: {' '.join(command)} failed; see {log}")


def _sources() -> list[Path]:
    """Return apt's files of sources here if this is a Debian, whose layout holds for its other releases; else none."""
    if "\nID=debian" not in Path("/etc/os-release").read_text(encoding="utf-8"):
        return []
    files = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    return [path for path in files if path.suffix in (".list", ".sources") and path.is_file()]


def _mirror() -> str:
    """Return the mirror of this machine's apt if it is a Debian, else nothing."""
    lines = [line.split() for path in _sources() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    uris = [word for line in lines if line[:1] in (["deb"], ["URIs:"]) for word in line[1:] if word.startswith("http")]
    return next((uri for uri in uris if "security" not in uri), "")


def take_settings_along(root: Path, suite: str) -> None:
    """Copy what this machine reaches package registries with into the root of a release."""
    etc = root / "etc"
    if sources := _sources():  # without them debootstrap's own stay
        (etc / "apt/sources.list").unlink(missing_ok=True)
        for path in sources:
            text = path.read_text(encoding="utf-8", errors="replace")
            for other in RELEASES.values():
                text = text.replace(other, suite)
            copy = etc / path.relative_to("/etc")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
    for folder in ("apt/apt.conf.d", "ssl/certs"):
        (etc / folder).mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", "--remove-destination", f"/etc/{folder}/.", str(etc / folder)], check=True)
    for name in ("resolv.conf", "hosts", "pip.conf"):
        if (Path("/etc") / name).is_file():
            shutil.copy(Path("/etc") / name, etc / name)
    for name in ("PIP_CERT", "SSL_CERT_FILE"):
        source = Path(os.environ.get(name) or "/nonexistent")
        if source.is_file():
            (root / str(source)[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, root / str(source)[1:])


@contextmanager
def mounted(root: Path) -> Iterator[None]:
    """Mount /proc, /dev and local folders of wheels while the block runs; unmount all of them however it ends."""
    mounts: list[Path] = []
    wheels = {Path(word) for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS") for word in os.environ.get(name, "").split()}
    try:
        _mount(mounts, root / "proc", "-t", "proc", "proc")
        _mount(mounts, root / "dev", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
        for name in DEVICES:
            (root / "dev" / name).touch()
            _mount(mounts, root / "dev" / name, "--bind", f"/dev/{name}")
        (root / "dev/fd").symlink_to("/proc/self/fd")
        (root / "dev/shm").mkdir()
        _mount(mounts, root / "dev/shm", "-t", "tmpfs", "-o", "mode=1777", "tmpfs")
        for folder in sorted(path for path in wheels if path.is_dir()):
            inner = root / str(folder.resolve())[1:]
            inner.mkdir(parents=True, exist_ok=True)
            _mount(mounts, inner, "--bind", str(folder))
        yield
    finally:
        for place in reversed(mounts):
            if subprocess.run(["umount", str(place)], check=False).returncode != 0:
                subprocess.run(["umount", "--lazy", str(place)], check=False)


def _mount(mounts: list[Path], place: Path, *arguments: str) -> None:
    subprocess.run(["mount", *arguments, str(place)], check=True)
    mounts.append(place)


def inside(root: Path, command: list[str], environment: Mapping[str, str], user: str = "root") -> list[str]:
    """Return the command line that runs ``command`` in the root, as ``user``, in an environment of these variables alone."""
    home = "/root" if user == "root" else f"/home/{user}"
    variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "USER": user}
    variables |= {**settings(), **environment}
    become = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
    pairs = [f"{name}={value}" for name, value in variables.items()]
    return ["chroot", str(root), *become, "env", "-i", *pairs, *command]
