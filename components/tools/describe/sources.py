"""Describe what an address or a local page names: the image itself, or the page's images without alt-text.

Pages and images are fetched politely: robots.txt, delays, size limits, public addresses only. Answers are kept in a temporary
store, which ends with the description. Addresses on the project's takedown list are not requested. Beside a local page, files
below its folder are read, and nothing else on this machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from components.core.errors import HearsightError
from components.tools.describe.describer import Describer, Description
from components.tools.describe.page import MOST_IMAGES, DescribedPage, describe_page
from components.vision.image_files import read_image_file
from components.web.answers import Outcome
from components.web.charset import parse_charset
from components.web.fetch import Fetcher
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import EMPTY_LIST, NAME, read_takedown
from components.web.urls import LOCAL, is_local, normalise

FETCHING = FetchSettings(retries=1)
HINT = "give another address, or a file"


@dataclass(frozen=True)
class Answer:
    """A page or image from the web."""

    url: str
    """The address that answered, after redirects."""
    type: str
    """Media type as sent, in lower case."""
    charset: str | None
    data: bytes


class Web:
    """The web for one description."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def get(self, url: str) -> Answer:
        """Return a page or an image.

        Raises:
            HearsightError: the address is unusable or private, robots.txt forbids it, or it does not answer with either.
        """
        address = normalise(url)
        if address is None:
            raise HearsightError("is not an http or https address", where=url, hint=HINT)
        self._fetcher.ensure([address], "page")
        return self._answer(self._fetcher.answers.outcome(address, page=True))

    def request(self, urls: Iterable[str]) -> None:
        """Request images, hosts side by side; :meth:`image` returns them."""
        self._fetcher.ensure(urls, "image")

    def image(self, url: str) -> bytes:
        """Return a requested image's bytes; raise HearsightError if it was refused or could not be fetched."""
        return self._answer(self._fetcher.answers.outcome(url)).data

    def _answer(self, outcome: Outcome) -> Answer:
        if outcome.rule or outcome.entry is None:
            value = f" ({outcome.value})" if outcome.value else ""
            raise HearsightError(f"cannot be fetched: {outcome.rule}{value}", where=outcome.url, hint=HINT)
        kind = outcome.entry.type.partition(";")[0]
        data = self._fetcher.store.body(outcome.final)
        return Answer(outcome.final, kind.strip().lower(), parse_charset(outcome.entry.type), data)


@contextmanager
def open_web(root: Path | None = None, settings: FetchSettings = FETCHING, proxy: str = "") -> Iterator[Web]:
    """Return the web for one description.

    Args:
        root: of the project whose takedown list applies; None for none.
        proxy: as of a crawl.
    """
    taken = read_takedown(root / NAME) if root is not None else EMPTY_LIST
    with (
        tempfile.TemporaryDirectory(prefix="hearsight-describe-") as folder,
        FetchStore(Path(folder) / "store", writer=True) as store,
        Fetcher(store, settings, proxy=proxy, taken=taken) as fetcher,
    ):
        yield Web(fetcher)


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
