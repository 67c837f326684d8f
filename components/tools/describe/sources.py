"""Describe what an address or a local page names: the image itself, or the page's images without alt-text.

Read the images beside a local page: files below the page's folder, and nothing else on this machine.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from components.core.errors import HearsightError
from components.tools.describe.describer import Describer, Description
from components.tools.describe.page import MOST_IMAGES, DescribedPage, describe_page
from components.tools.describe.web import FETCHING, open_web
from components.vision.image_files import read_image_file
from components.web.settings import FetchSettings
from components.web.urls import LOCAL, is_local


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
        return read_image_file(path, relative)


def describe_address(
    describer: Describer,
    url: str,
    *,
    root: Path | None = None,
    empty: bool = False,
    settings: FetchSettings = FETCHING,
    proxy: str = "",
    most: int = MOST_IMAGES,
) -> tuple[str, Description | DescribedPage]:
    """Return the address that answered, and the description of its image, or its page with proposals.

    Args:
        root: of the project whose takedown list applies.
        empty: also describe images with an empty alt-text.
        settings, proxy: of the requests.
        most: images of a page to describe.

    Raises:
        HearsightError: the address cannot be fetched or may not be, or is neither an image nor a page.
    """
    with open_web(root, settings, proxy) as web:
        answer = web.get(url)
        if answer.type.startswith("image/"):
            return answer.url, describer.describe(answer.data, url)
        page = describe_page(
            describer, answer.data, answer.url, web.image, answer.charset, empty=empty, prepare=web.request, most=most
        )  # fmt: skip
    return answer.url, page


def describe_local_page(
    describer: Describer,
    path: Path,
    *,
    root: Path | None = None,
    empty: bool = False,
    settings: FetchSettings = FETCHING,
    proxy: str = "",
) -> DescribedPage:
    """Return a local page with proposals; images are read below its folder, or fetched where their addresses are on the web.

    Raises:
        HearsightError: the page cannot be read, or is too large.
    """
    local, data = LocalFolder(path), read_image_file(path)
    with open_web(root, settings, proxy) as web:

        def read(address: str) -> bytes:
            return local.read(address) if is_local(address) else web.image(address)

        def fetch(addresses: list[str]) -> None:
            web.request([address for address in addresses if not is_local(address)])

        return describe_page(describer, data, local.url, read, empty=empty, prepare=fetch)
