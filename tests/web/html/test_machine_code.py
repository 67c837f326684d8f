"""The scanner's machine code is loaded without the compiler that made it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from components.web.html.pairs import read_fast

page = read_fast("<html lang=en><a href=/b>A dog<img src=a.jpg alt='A dog'></a>", "http://a.sample/")
print(page.candidates[0].context.link_text, *sorted({"numba", "numpy"} & set(sys.modules)))
"""


def test_pages_are_read_without_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "A dog\n"
