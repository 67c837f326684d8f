"""Search in the browser: by an uploaded sound, the microphone, a text and an image; reading aloud; errors in one line."""

from __future__ import annotations

import base64
import io
import re
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import soundfile
from PIL import Image
from playwright.sync_api import Page, Playwright, expect

from components.app.engines import Engines
from components.core.manifest import NAME
from components.core.stage_output import StageOutput
from components.speech.audio.files import RATE_HZ, to_flac
from components.speech.voices.speaking import speak
from tests.app.server import OWNER, Running, running, settings_of
from tests.support import until
from tests.support.app.browser import OPTIONS, assert_accessible
from tests.support.app.project import new_project
from tests.support.search_index.world import clip, drawn_image, models, run, spoken_set

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose dataset stamps has an index of eight images, each spoken of in French and Spanish."""
    root = new_project(tmp_path_factory.mktemp("search"))
    run(root, spoken_set(root) | {"input": models(root)})
    (root / "query.flac").write_bytes(to_flac(clip(6)))
    (root / "query.png").write_bytes(drawn_image(3))
    return root


@pytest.fixture(scope="module")
def site(root: Path) -> Iterator[Running]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        with running(settings_of(root)) as app:
            yield app


def served(site: Running) -> Engines:
    """The engines of the application."""
    services = site.app.state.services
    engines: Engines = services.get("search engines", lambda: Engines(services))
    return engines


def ask(page: Page, site: Running, **values: Path | str) -> None:
    """Fill the form, and wait for the results."""
    site.show(page, "/search")
    if "file" in values:
        page.set_input_files("#file", values["file"])
    else:
        page.fill("#text", str(values["text"]))
        page.select_option("#text_language", str(values["language"]))
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("heading", name="Results")).to_be_visible()


def test_a_spoken_file_finds_itself_first_and_focus_goes_to_the_results(page, site, root):
    ask(page, site, file=root / "query.flac")
    expect(page.locator("#results")).to_be_focused()
    lists = page.locator("ol.cards")
    assert [each.locator("> li").count() for each in lists.all()] == [5, 5]
    assert "<es> & caption 3" in lists.nth(1).locator("li").first.inner_text()
    assert page.get_by_label("Your sound").get_attribute("src").startswith("data:audio/flac")
    assert "Answered by: stamps, output" in page.inner_text("main")
    assert_accessible(page)


def test_an_image_is_its_own_first_result_with_its_captions_as_text_alternative(page, site, root):
    ask(page, site, file=root / "query.png")
    first = page.locator("ol.cards").first.locator("li").first
    assert set(first.get_by_role("img").get_attribute("alt").split(" / ")) == {"<es> & caption 3", "<fr> & caption 3"}
    assert first.locator("p [lang=es]").inner_text() == "<es> & caption 3"


def test_a_text_is_spoken_by_a_voice_of_its_language_and_the_page_says_so(page, site):
    ask(page, site, text="une maison rouge", language="fr")
    assert "“une maison rouge”, spoken by nanotts-fr-fr" in page.inner_text("main")
    assert page.input_value("#text") == "une maison rouge" and page.input_value("#text_language") == "fr"


@pytest.mark.parametrize(("accepted", "language"), [("en-GB", "en"), ("pt-BR,en", "pt"), ("de", "en")])
def test_a_text_is_in_the_language_of_the_page_whatever_index_is_loaded(site, accepted, language):
    """The index of this project has captions in Spanish and French only."""
    with httpx.Client(base_url=site.url, timeout=60, headers={**OWNER, "accept-language": accepted}) as client:
        for load in (lambda: None, lambda: served(site).get("stamps")):
            load()
            options = re.findall(
                r'<option value="(\w+)" selected>', client.get("/search").text.partition('id="text_language"')[2]
            )
            assert options[0] == language
        assert served(site).is_ready("stamps")


def test_a_caption_is_read_aloud_on_request_and_stopped_by_keyboard(page, site, root):
    ask(page, site, file=root / "query.flac")
    button = page.get_by_role("button", name="Read aloud: <es> & caption 3").first
    button.focus()
    page.keyboard.press("Enter")
    player = page.locator(".caption audio").filter(visible=False)
    until(lambda: any(each.evaluate("each => each.currentTime > 0") for each in player.all()))
    until(lambda: button.count() and button.inner_text() == "Read aloud")  # it ends by itself


def test_stored_speech_is_sent_and_other_captions_are_synthesised(site, root, page):
    engine = served(site).get("stamps")
    stored = engine.sound("03es.0", 0)
    assert (stored.voice, stored.stored) == ("human-es", True) and stored.flac == to_flac(clip(6))
    key = engine.searcher.index.item(0)["key"]
    assert engine.sound(key, 0).stored  # an image: the utterance of its caption
    object.__setattr__(engine, "speech", None)
    made = engine.sound("03es.0", 0)
    assert made.voice.endswith("es-es") and not made.stored and soundfile.info(io.BytesIO(made.flac)).samplerate == RATE_HZ
    assert httpx.get(f"{site.url}/search/speech/stamps/none/0", headers=OWNER).status_code == 400
    assert httpx.get(f"{site.url}/search/speech/stamps/03es.0/7", headers=OWNER).status_code == 400
    site.app.state.services.forget("search engine of stamps")


def test_the_form_works_without_a_script_and_in_portuguese(browser, site, root):
    context = browser.new_context(locale="pt-BR", java_script_enabled=False)
    page = context.new_page()
    site.show(page, "/search")
    assert not page.locator("#voice").is_visible()
    page.set_input_files("#file", root / "query.flac")
    page.get_by_role("button", name="Buscar").click()
    expect(page.get_by_role("heading", name="Resultados")).to_be_visible()
    assert page.locator(".caption audio").first.is_visible()
    context.close()


def test_the_microphone_records_a_query(playwright_of_tests: Playwright, site, tmp_path):
    spoken = speak("a small brown dog runs over the grass", "flite-slt")
    soundfile.write(tmp_path / "said.wav", spoken, RATE_HZ, subtype="PCM_16")
    flags = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    flags.append(f"--use-file-for-fake-audio-capture={tmp_path / 'said.wav'}")
    program = shutil.which("chromium")
    browser = playwright_of_tests.chromium.launch(executable_path=program, args=OPTIONS + flags)
    page = browser.new_page(locale="en-GB")
    site.show(page, "/search")
    button = page.locator("#record")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text(re.compile("Recording"))
    expect(button).to_have_text("Stop and search")
    page.wait_for_timeout(1500)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    sound = str(page.get_by_label("Your sound").get_attribute("src")).removeprefix("data:audio/wav;base64,")
    samples, _ = soundfile.read(io.BytesIO(base64.b64decode(sound)))
    assert samples.ndim == 1 and abs(samples).max() > 0.02
    browser.close()


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it has so many pixels, of some bytes."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def gif(size: tuple[int, int]) -> bytes:
    target = io.BytesIO()
    Image.new("L", size).save(target, "GIF")
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("words.txt", b"just some words", "neither a sound"),
        ("bomb.png", bomb(30_000, 30_000), "more than 50 million pixels"),
        ("large.png", bomb(9_000, 9_000), "more than 50 million pixels"),
        ("tiny.gif", gif((4, 4)), "smaller than 8 px"),
        ("silence.flac", to_flac(0 * clip(1)), "nothing audible"),
        ("program.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "neither a sound"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line_above_the_form(page, site, name, data, message):
    site.show(page, "/search")
    page.fill("#text", "kept")
    page.set_input_files("#file", {"name": name, "mimeType": "image/png", "buffer": data})
    page.get_by_role("button", name="Search").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(message)
    expect(page.locator("#error")).to_be_focused()
    assert page.input_value("#text") == "kept"


def test_an_empty_form_and_a_form_without_the_sessions_token_are_refused(site):
    with httpx.Client(base_url=site.url, timeout=60) as client:
        client.get(site.start_link)
        token = re.search(r'name="csrf" value="([^"]+)"', client.get("/search").text)
        assert token
        assert "nothing was asked" in client.post("/search", data={"index": "stamps", "csrf": token[1]}).text
        assert (
            client.post("/search", data={"index": "none", "csrf": token[1], "text": "x", "text_language": "en"}).status_code
            == 400
        )
        assert client.post("/search", data={"index": "stamps", "text": "x"}).status_code == 403


def test_an_index_that_was_built_anew_is_noticed_and_the_old_one_answers_meanwhile(site, root):
    before = served(site).get("stamps").name
    output = StageOutput(root / "data/stamps/build_search_index")
    output.manifest.with_warnings(b"[]").write(output.path)
    assert served(site).get("stamps").name != before
    output.manifest.write(output.path)
    assert served(site).get("stamps").name == before
    (output.path / NAME).rename(output.path / "aside")  # as while it is made anew
    assert served(site).get("stamps").name == before
    (output.path / "aside").rename(output.path / NAME)
    site.app.state.services.forget("search engine of stamps")


@pytest.mark.parametrize("width", [320, 1280])
def test_form_and_results_are_accessible_and_fit(page, site, root, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if width == 320 else "light")
    site.show(page, "/search")
    assert_accessible(page)
    ask(page, site, file=root / "query.png")
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nobody_but_the_owner_searches(root):
    with running(settings_of(root)) as app:
        assert httpx.get(f"{app.url}/search").status_code == 403
        assert httpx.get(f"{app.url}/search/speech/stamps/03es.0/0").status_code == 403
