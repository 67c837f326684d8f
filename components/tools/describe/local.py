"""Read the pictures beside a local page: files below the page's folder, and nothing else on this machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from components.core.errors import HearsightError
from components.vision.picture_files import read_picture_file
from components.web.urls import LOCAL


class LocalFolder:
    """The folder of a local page as a web host."""

    def __init__(self, page: Path) -> None:
        self.folder = page.resolve().parent
        self.url = f"http://{LOCAL}/{quote(page.name)}"
        """Address of the page."""

    def read(self, address: str) -> bytes:
        """Return a file's bytes; raise HearsightError if it is outside the folder, also through a link, or cannot be read."""
        relative = unquote(urlsplit(address).path).lstrip("/")
        path = (self.folder / relative.replace("\0", "\N{REPLACEMENT CHARACTER}")).resolve()  # NUL is in no file's name
        if not path.is_relative_to(self.folder):
            raise HearsightError("is outside the page's folder", where=relative, hint="move it below the folder")
        return read_picture_file(path, relative)
