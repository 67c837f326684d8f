"""Change and write files of settings."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from components.core.files import publish_bytes
from components.core.params import read_yaml


@contextmanager
def edited_yaml(path: Path) -> Iterator[dict[str, Any]]:
    """Yield a YAML file's content and write it back as it was changed, with its comments, order and quotes.

    Raises:
        HearsightError: as :func:`read_yaml`. The file stays as it was when the ``with`` block raises.
    """
    read_yaml(path)
    from ruamel.yaml import YAML  # here: no stage needs it

    editor = YAML()
    editor.preserve_quotes, editor.width = True, 10_000
    content: dict[str, Any] = editor.load(path.read_text(encoding="utf-8"))
    yield content
    text = io.StringIO()
    editor.dump(content, text)
    publish_bytes(path, text.getvalue().encode("utf-8"))


def yaml_text(content: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return settings as YAML, one value a line, so that DVC can read the file again after it has changed it.

    Args:
        comments: setting, with dots between the keys (``filter.sides_over``) → its comment at the end of the line.
    """
    lines: list[str] = []
    keys: list[str] = []
    for line in yaml.dump(content, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=10_000).splitlines():
        indent, key = (len(line) - len(line.lstrip())) // 2, line.strip().partition(":")[0]
        keys = [*keys[:indent], key]
        comment = (comments or {}).get(".".join(keys))
        lines.append(f"{line}   # {comment}" if comment else line)
    return "".join(f"{line}\n" for line in lines)


class _Plain(yaml.SafeDumper):
    """Writes every value out: no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
