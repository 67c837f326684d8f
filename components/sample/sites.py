"""One virtual host: static files of a folder, generated pages, and faults as on the real web."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote, urlsplit

from components.core.errors import HearsightError

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".xml": "application/xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
QUIRKS_FILE = "_web.json"
EPOCH = 1_600_000_000
"""Last-Modified of generated pages, seconds since 1970; fixed, so that they never seem new."""


@dataclass(frozen=True)
class Reply:
    """A host's answer."""

    status: int
    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before it answers."""
    reset: bool = False
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class Quirks:
    """A host's faults, by path."""

    redirects: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """path → (status, target)"""
    slow: Mapping[str, float] = field(default_factory=dict)
    """path → seconds"""
    reset: tuple[str, ...] = ()
    status: Mapping[str, int] = field(default_factory=dict)
    """path → status answered instead of the content"""
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """path → more headers"""

    @classmethod
    def read(cls, folder: Path) -> Quirks:
        """Read the quirks from ``_web.json`` in a folder of static files; none without that file."""
        path = folder / QUIRKS_FILE
        if not path.exists():
            return cls()
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            redirects = {name: (int(to[0]), str(to[1])) for name, to in content.pop("redirects", {}).items()}
            return cls(redirects=redirects, reset=tuple(content.pop("reset", ())), **content)
        except (ValueError, TypeError, IndexError) as error:
            raise HearsightError(f"does not describe a sample host ({error})", where=path, hint="fix or remove it") from None


class Site:
    """A host: ``made`` (path → bytes, or a function returning them) takes precedence over the files of ``folder``."""

    def __init__(
        self,
        folder: Path,
        made: Mapping[str, bytes | Callable[[], bytes]] | None = None,
        quirks: Quirks | None = None,
        mounts: Mapping[str, Path] | None = None,
    ) -> None:
        self._folders = {"/": folder.resolve(), **{name: path.resolve() for name, path in (mounts or {}).items()}}
        self._made = dict(made or {})
        self._quirks = quirks if quirks is not None else Quirks.read(folder)

    def answer(self, target: str) -> Reply:
        """Return the reply to a request for ``target`` (a path, perhaps with a query)."""
        path = unquote(urlsplit(target).path, errors="replace") or "/"
        if path in self._quirks.reset:
            return Reply(0, reset=True)
        if path in self._quirks.redirects:
            status, to = self._quirks.redirects[path]
            return Reply(status, b"<p>Moved.", headers={"Location": to})
        content = self._content(path)
        if content is None:
            return Reply(404, b"<!doctype html><title>Not found</title><p>There is no such page here.")
        body, kind, changed = content
        headers = {"ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"', "Last-Modified": formatdate(changed, usegmt=True)}
        headers |= self._quirks.headers.get(path, {})
        return Reply(self._quirks.status.get(path, 200), body, kind, headers, self._quirks.slow.get(path, 0.0))

    def _content(self, path: str) -> tuple[bytes, str, float] | None:
        if path in self._made:
            made = self._made[path]
            kind = TYPES.get(Path(path).suffix.lower(), "application/octet-stream" if Path(path).suffix else TYPES[".html"])
            return (made() if callable(made) else made), kind, EPOCH
        for prefix in sorted(self._folders, key=len, reverse=True):
            if not path.startswith(prefix) or "\x00" in path:
                continue
            base = self._folders[prefix]
            file = base / path[len(prefix) :].lstrip("/")
            if file.is_dir():
                file = file / "index.html"
            # Nothing outside the folder, whatever dots or links the path holds.
            if file.name == QUIRKS_FILE or not file.is_file() or not file.resolve().is_relative_to(base):
                return None
            return file.read_bytes(), TYPES.get(file.suffix.lower(), "application/octet-stream"), file.stat().st_mtime
        return None
