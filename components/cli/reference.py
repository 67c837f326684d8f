"""``python -m components.cli.reference``: write docs/cli.md from the commands' help texts, the filter rules and the layouts."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from components.cli.main import app
from components.core.addresses import CODE_ROOT
from components.stages.crawl.sources.layouts import LAYOUTS, layout_named
from components.stages.filter.cascade import RULES

TARGET = CODE_ROOT / "docs" / "cli.md"
HEADER = """# The commands

Written by `make docs` from the help texts, filter rules and layouts; edit those. Tables of results are JSON lines when the
output is not a terminal. An error that a user can correct is one line on standard error and exit code 2. A file that you name to
be written must be new, and none of the project's own; `heal` alone continues its earlier ones.

Also here: [filter rules](#filter-rules), [table layouts](#table-layouts).
"""


def root_command() -> Any:
    """Return the click command of ``hearsight``."""
    return typer.main.get_command(app)


def commands(command: Any = None, name: str = "hearsight") -> Iterator[tuple[str, Any]]:
    """Yield every command that is not a group, with its full name, in alphabetical order."""
    command = command or root_command()
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
    else:
        for child in sorted(children):
            yield from commands(children[child], f"{name} {child}")


def reference() -> str:
    """Return the Markdown text of docs/cli.md."""
    listed = list(commands())
    epilog = " ".join((root_command().epilog or "").split())
    index = " ·\n".join(f"[`{name.removeprefix('hearsight ')}`](#{name.replace(' ', '-')})" for name, _ in listed) + "\n"
    sections = (*(_section(name, command) for name, command in listed), _rules(), _layouts())
    return "\n".join([HEADER, epilog + "\n", index, *sections])


def _section(name: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    usage = " ".join([name, *(["[OPTIONS]"] if options else []), *map(_placeholder, arguments)])
    lines = ["", f"## {name}", "", " ".join((command.help or "").split()), "", f"    {usage}"]
    if arguments or options:
        lines += ["", "| name | meaning | default |", "|---|---|---|"]
    lines += [f"| `{_placeholder(each)}` | {_cell(each.help)} | |" for each in arguments]
    lines += [f"| `{', '.join(each.opts)}` | {_cell(each.help)} | {_default(each)} |" for each in options]
    return "\n".join(lines)


def _rules() -> str:
    rows = ((f"`{name}`", ", ".join(rule.settings) or "–", rule.meaning) for name, rule in RULES.items())
    return _table("Filter rules", ("rule", "settings of `filter`", "what it asks for"), rows)


def _layouts() -> str:
    rows = ((f"`{name}`", (inspect.getdoc(layout_named(name)) or "").partition("\n")[0]) for name in LAYOUTS)
    return _table("Table layouts", ("`layout`", "what it reads"), rows)


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a section with a table; what is code in a docstring is code."""
    lines = [
        "| " + " | ".join(_cell(cell).replace("``", "`") for cell in row) + " |" for row in (head, ["---"] * len(head), *rows)
    ]
    return "\n".join(["", f"## {title}", "", *lines])


def _placeholder(argument: Any) -> str:
    return str(argument.name).upper() + ("..." if argument.nargs == -1 else "")


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _default(option: Any) -> str:
    if option.required:
        return "required"
    return "" if option.is_flag or option.default in (None, "", ()) else f"`{option.default}`"


if __name__ == "__main__":
    if sys.argv[1:]:
        raise SystemExit("usage: python -m components.cli.reference")
    TARGET.write_text(reference() + "\n", encoding="utf-8")
    print(TARGET)
