"""The console script in a fork of the test process, which saves seconds of imports for each call."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path

from components.cli.main import main
from tests.support import PROJECT


def hearsight(*words: str, stdin: bytes = b"", cwd: Path = PROJECT, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``hearsight words`` and return exit code and output. Other tests start the installed script."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        child = os.fork()
        if not child:
            for number, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), number)
            os._exit(_run(words, cwd, environment))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["hearsight", *words], code, out.read(), err.read())


def _run(words: tuple[str, ...], cwd: Path, environment: Mapping[str, str]) -> int:
    """Run the command in the fork; return its exit code."""
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww"))
    code = 1
    try:
        os.chdir(cwd)
        os.environ.update(environment)
        sys.argv = ["hearsight", *words]
        main()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return code
