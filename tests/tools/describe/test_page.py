"""A page's images without alt-text get proposals; images are read below a local page, or fetched politely."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.sample.serving import SampleWeb
from components.sample.sites import Site
from components.tools.describe.describer import Describer, Description
from components.tools.describe.page import DescribedPage, find_images
from components.tools.describe.sources import describe_address, describe_local_page
from components.web.settings import FetchSettings
from tests.support.describe.world import drawn_image

FAST = FetchSettings(delay=0.0, retries=0, timeout=5.0)
INLINE = base64.b64encode(drawn_image("yellow")).decode()
PAGE = f"""<!doctype html><html lang="en"><title>an <img> in a title</title>
<img src="red.png"><img src="sub/blue.png" alt="a blue thing"><img src=green.png alt="" class=x>
<img src="data:image/png;base64,{INLINE}"><img src="red.png" id="again"><img src="none.png">
<img alt="" role="presentation" src="white.png"><img></html>""".encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    (site / "sub").mkdir(parents=True)
    for name in ("red", "green", "white"):
        (site / f"{name}.png").write_bytes(drawn_image(name))
    (site / "sub" / "blue.png").write_bytes(drawn_image("blue"))
    (site / "page.html").write_bytes(PAGE)
    return site


def outcomes(page: DescribedPage) -> dict[int, str]:
    return {one.image.position: one.description.caption if one.description else one.error for one in page.proposals}


def test_images_without_the_attribute_are_described_and_decorative_ones_left(english: Describer, folder: Path) -> None:
    page = describe_local_page(english, folder / "page.html")
    found = outcomes(page)
    assert {at: found[at] for at in (0, 3, 4)} == {0: "a red square", 3: "a yellow square", 4: "a red square"}
    assert set(found) == {0, 3, 4, 5, 7}
    assert "there is no such file" in found[5] and "no address" in found[7]
    written = page.html()
    red = b'<img alt="a red square" data-hearsight="proposed" src="red.png">'
    assert red in written and b'alt="a blue thing"' in written and b'alt="" class=x' in written
    assert written.replace(b' alt="a red square" data-hearsight="proposed"', b"").replace(
        b' alt="a yellow square" data-hearsight="proposed"', b"") == PAGE  # fmt: skip


def test_empty_alt_texts_are_described_on_request_but_not_those_for_presentation(english: Describer, folder: Path) -> None:
    page = describe_local_page(english, folder / "page.html", empty=True)
    assert outcomes(page)[2] == "a green square" and 6 not in outcomes(page)
    assert b'<img src=green.png alt="a green square" data-hearsight="proposed" class=x>' in page.html()


@pytest.mark.parametrize(
    "markup",
    [
        *(
            f"<img src=a.png {role}>"
            for role in ("role=presentation", "role=' NONE img'", "aria-hidden=true", "aria-hidden=TRUE")
        ),
        *(f"<img src=a.png {name}>" for name in ("aria-label='A cat'", "aria-labelledby='x cat'", "aria-labelledby=said")),
        "<div aria-hidden=true><p><picture><img src=a.png></picture></p></div>",
        "<span role=img aria-label='Five stars'><img src=a.png><img src=a.png></span>",
    ],
)
def test_images_that_are_left_out_or_have_a_name_are_left_alone(markup: str) -> None:
    page = f"<p id=cat>A cat</p><p id=none> <img></p><i id=said aria-label='A cat'></i>{markup}<img id=last>".encode()
    for empty in (False, True):
        images, _, writable = find_images(page, "http://a.sample/", "utf-8", empty=empty)
        assert writable and len(images) == 2 and images[1].tag is not None and "id" in images[1].tag.attributes


@pytest.mark.parametrize(
    "attributes",
    ["role=img", "role=''", "aria-hidden=false", "aria-hidden", "aria-label=' '", "aria-labelledby='none lost'", "title=x"],
)
def test_other_roles_and_empty_names_do_not_exempt_an_image(attributes: str) -> None:
    page = f"<p id=none> <img alt=x></p><img src=a.png {attributes}>".encode()
    images, *_ = find_images(page, "http://a.sample/", "utf-8")
    assert [image.address for image in images] == ["http://a.sample/a.png"]


def test_a_lazily_loaded_image_is_described_and_not_its_placeholder(english: Describer, folder: Path) -> None:
    lazy = '<img src="spacer.gif" data-src="red.png">'
    twin = '<img src="data:image/gif;base64,R0" data-srcset="sub/blue.png 2x"><noscript><img src="sub/blue.png"></noscript>'
    (folder / "page.html").write_text(f"<html lang=en>{lazy}<p>{twin}<img src=green.png>")
    page = describe_local_page(english, folder / "page.html")
    assert outcomes(page) == {0: "a red square", 1: "a blue square", 3: "a green square"}
    assert [one.image.source for one in page.proposals] == ["red.png", "sub/blue.png", "green.png"]
    assert page.html().count(b'alt="a blue square"') == 2 and page.html().count(b"alt=") == 4


def test_an_unsure_alt_text_is_marked_in_the_page(project: Path, folder: Path) -> None:
    page = describe_local_page(Describer.open(project, "en", threshold=1.0), folder / "page.html")
    assert b'<img alt="Not sure: a red square" data-hearsight="not-sure" src="red.png">' in page.html()


@pytest.mark.parametrize(
    "source", ["../secret.png", "link.png", "..%2Fsecret.png", "sub/../../secret.png", "/../secret.png", "a%00b.png"]
)
def test_images_outside_the_pages_folder_are_not_read(english: Describer, folder: Path, source: str) -> None:
    (folder.parent / "secret.png").write_bytes(drawn_image("red"))
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "page.html").write_bytes(f'<html lang=en><img src="{source}">'.encode())
    (error,) = outcomes(describe_local_page(english, folder / "page.html")).values()
    assert "outside the page's folder" in error or "there is no such file" in error


def test_a_page_on_the_web_is_fetched_with_its_images_under_robots_txt(english: Describer, folder: Path) -> None:
    (folder / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /sub/\n")
    (folder / "page.html").write_bytes(b"<html lang=en><img src=red.png><img src=sub/blue.png><img src=http://b.sample/x.png>")
    with SampleWeb(hosts={"a.sample": folder, "b.sample": Site(folder, {"/x.png": drawn_image("black")})}) as web:
        at, page = describe_address(english, "http://a.sample/page.html", settings=FAST, proxy=web.proxy)
        assert isinstance(page, DescribedPage)
        found = outcomes(page)
        assert (at, found[0], found[2]) == ("http://a.sample/page.html", "a red square", "a black square")
        assert "robots" in found[1] and "http://a.sample/sub/blue.png" not in web.log
        _, one = describe_address(english, "http://a.sample/green.png", settings=FAST, proxy=web.proxy)
        assert isinstance(one, Description) and one.caption == "a green square"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/x.png", "http://localhost/x", "http://[::1]/", "http://10.0.0.1/", "http://0x7f.1/"]
)
def test_private_addresses_are_never_requested(english: Describer, url: str) -> None:
    with pytest.raises(HearsightError, match="private_address"):
        describe_address(english, url, settings=FAST)


def test_a_name_that_leads_to_a_private_address_is_refused_when_it_is_connected(
    english: Describer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(self: object, host: str, port: int = 0, family: int = 0) -> list[dict[str, object]]:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}]

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolve)
    with pytest.raises(HearsightError, match=r"private_address.*127\.0\.0\.1"):
        describe_address(english, "http://rebind.sample/", settings=FAST)


def test_a_page_whose_charset_hides_its_tags_is_given_as_json_only(english: Describer, folder: Path) -> None:
    (folder / "page.html").write_bytes("\ufeff<html lang=en><img src=red.png>".encode("utf-16-le"))
    page = describe_local_page(english, folder / "page.html")
    assert outcomes(page) == {0: "a red square"} and page.proposals[0].plain()["alt"] == "a red square"
    with pytest.raises(HearsightError, match="--format json"):
        page.html()
