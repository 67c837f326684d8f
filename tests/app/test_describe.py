"""Describe and feedback in the browser: images, pages with downloads, reading aloud, errors, and remarks on an alt-text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from components.app.invitations import INVITATION, sign
from components.app.routes import describe
from components.sample.serving import SampleWeb
from components.tools.describe.sources import describe_address
from components.web.settings import FetchSettings
from tests.app.server import OWNER, SECRET, Running, csrf_of, running, settings_of
from tests.support.app.browser import assert_accessible
from tests.support.describe.world import drawn_image, make_project

pytestmark = pytest.mark.long

FAST = FetchSettings(delay=0.0, retries=0, timeout=5.0)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with captioners that know six colours."""
    root = make_project(tmp_path_factory.mktemp("described"))
    (root / "red.png").write_bytes(drawn_image("red"))
    return root


@pytest.fixture(scope="module")
def site(root: Path) -> Iterator[Running]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        with running(settings_of(root)) as app:
            yield app


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A web of one host with a page of two images; the second is not there."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "red.png").write_bytes(drawn_image("red"))
    (folder / "page.html").write_bytes(
        b"<html lang=en><title>x</title><img src=red.png><img src=none.png><script>alert(1)</script>"
    )
    with SampleWeb(hosts={"a.sample": folder}) as web:
        monkeypatch.setattr(describe, "describe_address", partial(describe_address, settings=FAST, proxy=web.proxy))
        yield


def result(page: Page) -> None:
    """Send the form, and wait for the answer, which has the focus."""
    page.locator("button.main").click()
    expect(page.locator("#result")).to_be_focused()


def test_an_uploaded_image_is_described_with_its_confidence_and_limits_and_read_aloud(page, site, root):
    site.show(page, "/describe")
    page.set_input_files("#file", root / "red.png")
    result(page)
    text = page.inner_text("main")
    assert "a red square" in text and "confidence" in text and "A program wrote this." in text
    answer = httpx.get(site.url + page.get_by_label("Read aloud").get_attribute("src"), timeout=60, headers=OWNER)
    assert answer.content.startswith(b"fLaC") and answer.headers["content-type"] == "audio/flac"
    assert_accessible(page)


def test_a_changed_index_is_not_quoted_any_more_and_unknown_languages_are_refused(root, monkeypatch):
    opened, real = list[str](), describe.Describer.open

    def note(root: Path, language: str, **options: str) -> describe.Describer:
        opened.append(language)
        return real(root, language, **options)

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(describe.Describer, "open", note)
    with running(settings_of(root)) as app, httpx.Client(base_url=app.url, timeout=60, headers=OWNER) as client:

        def ask(language: str) -> int:
            form = {"csrf": csrf_of(client.get("/feedback")), "captions": language}
            return client.post("/describe", data=form, files={"file": ("red.png", drawn_image("red"))}).status_code

        assert [ask("fr"), ask("fr"), ask("xx" * 9)] == [200, 200, 400] and opened == ["fr"]
        (index,) = root.glob("data/stamps/build_search_index/search/index/index.json")
        os.utime(index)
        assert ask("fr") == 200 and opened == ["fr", "fr"]


def test_only_captions_of_this_application_are_read_aloud(site):
    forged = sign("another key " * 4, describe.SPEECH, ["anything", "en"])
    for token in (forged, sign(SECRET, INVITATION, ["anything", "en"]), "x"):
        assert httpx.get(f"{site.url}/describe/speech/{token}", headers=OWNER).status_code == 400


def test_a_pages_images_get_proposals_and_the_page_is_downloaded_with_them(page, site, web):
    site.show(page, "/describe")
    page.fill("#address", "http://a.sample/page.html")
    page.keyboard.press("Enter")
    expect(page.locator("#result")).to_be_focused()
    rows = page.locator("tbody tr")
    assert "a red square" in rows.nth(0).inner_text() and "cannot be fetched" in rows.nth(1).inner_text()
    assert_accessible(page)
    links = [page.get_by_role("link", name=name).get_attribute("href") for name in ("HTML", "JSON")]
    written, proposals = (httpx.get(site.url + link, headers=OWNER) for link in links)
    assert b'alt="a red square"' in written.content and b"<script>" in written.content
    assert "attachment" in written.headers["content-disposition"] and "sandbox" in written.headers["content-security-policy"]
    assert proposals.json()["images"][0]["alt"].endswith("a red square") and "error" in proposals.json()["images"][1]
    assert httpx.get(f"{site.url}/describe/page/guessed.html", headers=OWNER).status_code == 404


@pytest.mark.parametrize(
    ("address", "message"),
    [("http://127.0.0.1:1/x.png", "private_address"), ("ftp://a.sample/x", "is not an http or https address")],
)
def test_addresses_that_may_not_be_fetched_are_refused_in_one_line(page, site, address, message):
    site.show(page, "/describe")
    page.fill("#address", address)
    page.locator("button.main").click()
    expect(page.get_by_role("alert")).to_contain_text(message)
    assert page.input_value("#address") == address
    assert_accessible(page)


def test_the_description_works_without_a_script_and_in_portuguese(browser, site, root):
    context = browser.new_context(locale="pt-BR", java_script_enabled=False, viewport={"width": 320, "height": 700})
    page = context.new_page()
    site.show(page, "/describe")
    page.select_option("#captions", "en")
    page.set_input_files("#file", root / "red.png")
    page.get_by_role("button", name="Descrever").click()
    expect(page.get_by_role("heading", name="Descrição", exact=True)).to_be_visible()
    assert "Um programa escreveu isto." in page.inner_text("main")
    context.close()


def test_an_alt_text_gets_remarks_in_the_language_of_the_interface(browser, site):
    for locale, title, missing in (("en-GB", "Remarks", "Remove the repeated word."), ("pt-BR", "Comentários", "palavra")):
        context = browser.new_context(locale=locale, viewport={"width": 320, "height": 700})
        page = context.new_page()
        site.show(page, "/feedback")
        assert_accessible(page)
        page.fill("#text", "Foto de um cachorro cachorro correndo na grama verde do parque.")
        page.select_option("#text_language", "pt")
        result(page)
        shown = page.inner_text("main")
        assert page.inner_text("#result") == title and missing in shown
        assert "CC" in shown and "Conceptual Captions" in shown and "PCV" in shown and "#PraCegoVer (dos Santos" in shown
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        context.close()


def test_forms_need_the_sessions_token_and_pages_the_owner(site):
    with httpx.Client(base_url=site.url, timeout=60) as client:
        for path in ("/describe", "/feedback", "/describe/speech/x", "/describe/page/x.html"):
            assert client.get(path).status_code == 403
        client.get(site.start_link)
        for path in ("/describe", "/feedback"):
            assert client.post(path, data={"text": "x"}).status_code == 403


def test_an_empty_text_is_refused_above_the_form(site):
    with httpx.Client(base_url=site.url, timeout=60, headers=OWNER) as client:
        answer = client.post("/feedback", data={"text": " ", "csrf": csrf_of(client.get("/feedback"))})
        assert answer.status_code == 400 and "is empty" in answer.text


def ask(site: Running, address: str) -> httpx.Response:
    """Send the form with an address, without a browser."""
    with httpx.Client(base_url=site.url, timeout=60, headers=OWNER) as client:
        form = {"csrf": csrf_of(client.get("/describe")), "captions": "en", "address": address}
        return client.post("/describe", data=form)


def test_a_page_with_too_many_images_is_refused_with_the_command_that_takes_it(site, web, monkeypatch):
    monkeypatch.setattr(describe, "MOST_IMAGES_OF_PAGE", 1)
    answer = ask(site, "http://a.sample/page.html")
    assert answer.status_code == 400 and "has 2 images without alt-text, more than 1" in answer.text
    assert "hearsight describe" in answer.text


def test_addresses_beyond_those_that_are_described_at_once_are_refused(site, web):
    slots = site.app.state.services.get("address slots", lambda: describe.BoundedSemaphore(describe.ADDRESSES_AT_ONCE))
    for _ in range(describe.ADDRESSES_AT_ONCE):
        slots.acquire()
    try:
        assert "other addresses are being described" in ask(site, "http://a.sample/red.png").text
    finally:
        for _ in range(describe.ADDRESSES_AT_ONCE):
            slots.release()
    assert ask(site, "http://a.sample/red.png").status_code == 200
