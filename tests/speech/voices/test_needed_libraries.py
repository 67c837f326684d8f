"""Every library that a wheel or a fetched package links to is in the same package, or in the smallest Debian.

Wheels must fit Debian 12; a package is fetched for this machine's release, and must fit that.
"""

from __future__ import annotations

import platform
import re
import shutil
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

from components.sample.packages import PACKAGES, VOICES
from components.speech.voices import libraries
from components.speech.voices.engine_espeak import LIBRARY, espeak_home
from tests.speech.voices.elf import Needs, read_needs

BASE = {
    *("libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"),
    "libresolv.so.2",
    *("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1"),
}
"""Of libc6, libgcc-s1, libstdc++6 and zlib1g, which Debian 12's minimal base and python3.11 bring with them."""
NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
"""Symbol versions of those libraries in Debian 12."""
CUDA = ("nvidia_", "cuda_", "triton")
"""Distributions that a torch for CUDA brings; they link to one another and, where a GPU is, to its driver and network."""
EXCEPTIONS = {
    ("torch", "libcuda.so.1"): "the GPU's driver: only a torch for CUDA looks for it, and only where a GPU is used",
    ("playwright", "libatomic.so.1"): "the driver of browser tests, which are skipped without it",
    ("numba", "libgomp.so.1.0.0"): "one of three ways to run threads; numba tries the next where it does not load",
    ("numba", "libtbb.so.12"): "one of three ways to run threads; numba tries the next where it does not load",
}
"""By distribution and library: why nothing fails without it."""


def wheels() -> Iterator[tuple[str, list[Path]]]:
    """Yield each installed distribution and its files that may be ELF files, by the record that pip wrote."""
    for site in {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}:
        for record in sorted(site.glob("*.dist-info/RECORD")):
            paths = [line.rsplit(",", 2)[0].strip('"') for line in record.read_text(encoding="utf-8").splitlines()]
            names = [path for path in paths if ".so" in (name := path.rpartition("/")[2]) or "." not in name]
            yield record.parent.name.partition("-")[0], [site / path for path in names if (site / path).is_file()]


def unmet(paths: list[Path]) -> tuple[set[str], set[str], int]:
    """Return the libraries and symbol versions that neither these files nor BASE have, and how many of the files are ELF."""
    result: dict[Path, Needs] = {path: needs for path in paths if (needs := read_needs(path)) is not None}
    here = BASE | {path.name for path in paths} | {needs.soname for needs in result.values()}
    missing = {name for needs in result.values() for name in needs.needed} - here
    versions = {name for needs in result.values() for name in needs.versions if too_new(name)}
    return missing, versions, len(result)


def too_new(version: str, newest: Mapping[str, tuple[int, ...]] = NEWEST) -> bool:
    """Return whether a symbol version is not in Debian 12's libraries, or ``newest``; those of other libraries are not judged."""
    match = re.fullmatch(r"([A-Z]+)_([0-9.]+)", version)
    return bool(match and match[1] in newest and tuple(map(int, match[2].split("."))) > newest[match[1]])


def here() -> dict[str, tuple[int, ...]]:
    """Return the newest symbol versions on this machine, at least those of Debian 12."""
    own = tuple(map(int, platform.libc_ver()[1].split(".")))
    return {**NEWEST, "GLIBC": max(own, NEWEST["GLIBC"])}


def test_every_wheel_contains_what_it_links_to_or_the_base_has_it():
    wanting, looked_at = {}, 0
    cuda = [path for name, paths in wheels() if name.startswith(CUDA) for path in paths]
    for name, paths in wheels():
        if name.startswith(CUDA):
            continue
        missing, versions, count = unmet([*paths, *cuda] if name == "torch" else paths)
        if name == "torch" and cuda:
            missing -= unmet(cuda)[0]
        missing = {library for library in missing if (name, library) not in EXCEPTIONS}
        looked_at += count
        if missing or versions:
            wanting[name] = sorted(missing | versions)
    assert wanting == {} and looked_at > 300


def test_fetched_packages_contain_what_they_link_to_or_the_base_has_it():
    homes = [root / libraries.UNPACKED / name for root in libraries._roots() for name in PACKAGES]
    paths = [path for home in homes for path in home.rglob("*") if path.is_file() and ".so" in path.name]
    missing, versions, count = unmet(paths)
    assert (missing, {version for version in versions if too_new(version, here())}) == (set(), set())
    assert count >= 10, f"{VOICES} are fetched (`hearsight data --voices`)"


def test_the_formant_synthesiser_needs_the_c_library_alone():
    home = espeak_home()
    assert home is not None
    needs = read_needs(home / LIBRARY)
    assert needs is not None and set(needs.needed) <= {"libc.so.6", "libm.so.6"}


def test_a_library_that_is_not_beside_its_user_is_reported_missing(tmp_path):
    flite = libraries.find_library("libflite1", "libflite.so.2.2")
    assert flite is not None
    alone = Path(shutil.copy(flite, tmp_path))
    assert unmet([alone])[0] == {"libasound.so.2"}
    (tmp_path / "libasound.so.2").write_text("not an ELF file, but of the name", encoding="utf-8")
    assert unmet([alone, tmp_path / "libasound.so.2"])[::2] == (set(), 1)
