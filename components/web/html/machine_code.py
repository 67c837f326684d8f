"""Load the scanner's machine code, which numba makes once, in a process of its own.

To load it with numba takes 0.7 s and 110 MB in each process that reads pages; llvmlite's linker takes a tenth and 45 MB.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from ctypes import CFUNCTYPE, c_char_p, c_int64, c_void_p
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from components.core.addresses import code_path
from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes

_SCANNER = Path(__file__).with_name("tags.py")
_SOURCES = [*_SCANNER.parent.glob("tag*.py"), *map(_SCANNER.with_name, ("context.py", "offers.py", "word_signs.py"))]


class MachineCode(NamedTuple):
    """The compiled functions; see ``tags``."""

    find_tags: Callable[..., None]
    match: Callable[..., None]
    engine: Any
    """Owns the memory of both."""


@cache
def load_scanner() -> MachineCode:
    """Return the compiled functions, from a file if they were compiled before: loaded once, before workers are forked."""
    import llvmlite.binding as llvm  # On use: a reader of WATs needs none of it.

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    engine.add_object_file(llvm.ObjectFileRef.from_data(_read_object(processor)))
    engine.finalize_object()
    pointer, size = c_void_p, c_int64
    find_tags = CFUNCTYPE(None, c_char_p, size, c_char_p, size, pointer, size, pointer, size, pointer, pointer)
    match = CFUNCTYPE(None, c_char_p, size, pointer, size, pointer, size, pointer)
    addresses = (engine.get_function_address(name) for name in ("find_tags", "match"))
    return MachineCode(find_tags(next(addresses)), match(next(addresses)), engine)


def _read_object(processor: str) -> bytes:
    """Return the object file for this processor: from beside the bytecode of ``tags``, from the user's cache, or a new one.

    A new one is written to both, so that other checkouts and read-only installations find it.
    """
    parts = [path.read_bytes() for path in sorted(_SOURCES)]
    key = sha256_bytes(b"\0".join([*parts, processor.encode(), version("numba").encode(), version("llvmlite").encode()]))
    beside = Path(importlib.util.cache_from_source(str(_SCANNER))).parent
    users = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "hearsight"
    files = [folder / f"tags-{key[:32]}.o" for folder in (beside, users)]
    for file in files:
        with suppress(OSError):
            return file.read_bytes()
    made = _compile()
    for file in files:
        with suppress(HearsightError, OSError):
            publish_bytes(file, made)
    return made


def _compile() -> bytes:
    """Return what ``tags.compile_object`` returns, called in a process of its own, whose memory ends with it."""
    words = [sys.executable, "-m", "components.web.html.tags"]
    environment = os.environ | {"PYTHONPATH": code_path(os.environ)}
    return subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True).stdout
