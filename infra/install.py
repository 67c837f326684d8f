"""Install locked packages into this environment by uv: ``.venv/bin/python infra/install.py LOCK ... [--torch]``.

Packages come from where the user's settings point. uv has settings of its own and reads none of pip's, so pip's are passed to it
where uv's are not set. The locks are complete, and every file is compared with its hash. torch alone has no hashes, because which
of its builds fits, and so which index has it, depends on the machine (SECURITY.md).
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FROM_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}
"""Setting of pip → uv's variable of the same meaning."""
SOURCES = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
    "UV_TORCH_BACKEND",
)
"""Variables of uv that say where torch comes from."""


def pip_settings(lines: str) -> dict[str, str]:
    """Return pip's settings by name, from the output of ``pip config list``; variables are stronger than files."""
    known: dict[str, str] = {}
    for line in sorted(lines.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        if value.startswith(("'", '"')):
            known[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    return known


def uv_environment(environment: Mapping[str, str], pip: Mapping[str, str], default_index: str = "") -> dict[str, str]:
    """Return the environment for uv: pip's settings stand in for those of uv's that are not set.

    Args:
        default_index: pip's index where no setting names one.
    """
    added = {ours: pip[name].split() for name, ours in FROM_PIP.items() if pip.get(name) and not environment.get(ours)}
    if "UV_INDEX" in added and not environment.get("UV_DEFAULT_INDEX"):
        # Of a version that several indexes have, uv takes the files of the first, which may lack the one for this machine.
        added["UV_INDEX"][:0] = pip.get("index-url", default_index).split()
    # uv separates folders of packages by commas, all else by spaces.
    values = {name: ("," if name == "UV_FIND_LINKS" else " ").join(words) for name, words in added.items()}
    # pip looks for the best version in all indexes; uv would take the first index that has any.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **environment, **values}


def pip_default_index() -> str:
    """Return the index that pip takes where no setting names one, from its help text; empty if the text has none."""
    words = [sys.executable, "-m", "pip", "install", "--help", "--isolated"]
    found = re.search(r"--index-url <url>.*?\(default\s+(\S+)\)", _output(words), re.DOTALL)
    return found[1] if found else ""


def _output(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def names_a_source(environment: Mapping[str, str], files: list[Path]) -> bool:
    """Return whether the variables or uv's files of settings say where packages come from."""
    if any(environment.get(name) for name in SOURCES):
        return True
    for path in files:
        if path.is_file():
            settings = tomllib.loads(path.read_text(encoding="utf-8"))
            keys = {*settings, *settings.get("pip", {})}
            if keys & {"index", "index-url", "extra-index-url", "find-links", "no-index", "torch-backend"}:
                return True
    return False


def settings_files(environment: Mapping[str, str]) -> list[Path]:
    """Return the files where uv's settings may be."""
    home = environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "/nonexistent")) / ".config"
    return [Path(environment.get("UV_CONFIG_FILE", "/nonexistent")), Path(home) / "uv/uv.toml", Path("/etc/uv/uv.toml")]


def install(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run ``uv pip install`` for this environment; return its exit code."""
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--python", sys.executable]
    return subprocess.run([*uv, *arguments], env=dict(environment), check=False).returncode


def install_torch(environment: Mapping[str, str]) -> int:
    """Install torch: for this machine's GPU or without CUDA, unless the settings name a source; return uv's exit code.

    Where torch's own index is out of reach, it comes from the default index, whose build for Linux contains CUDA.
    """
    requirements = ["--requirements", str(ROOT / "requirements-torch.lock"), "--constraints", str(ROOT / "requirements.lock")]
    if names_a_source(environment, settings_files(environment)):
        return install(requirements, environment)
    if install([*requirements, "--torch-backend", "auto"], environment) == 0:
        return 0
    print("torch's own index gave nothing (above): taking the build of the default index, 3 GB with CUDA on Linux", flush=True)
    return install(requirements, environment)


def main() -> int:
    """Install the locks, then torch if it is asked for; return the first exit code that is not 0."""
    parser = argparse.ArgumentParser(description="Install locked packages into this environment.")
    parser.add_argument("locks", nargs="*", type=Path, help="locks with hashes")
    parser.add_argument("--torch", action="store_true", help="install torch as well")
    chosen = parser.parse_args()
    pip = pip_settings(_output([sys.executable, "-m", "pip", "config", "list"]))
    environment = uv_environment(os.environ, pip, pip_default_index())
    for lock in chosen.locks:
        if code := install(["--require-hashes", "--no-deps", "--requirements", str(lock)], environment):
            return code
    return install_torch(environment) if chosen.torch else 0


if __name__ == "__main__":
    raise SystemExit(main())
