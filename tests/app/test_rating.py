"""Rating in a real browser: by keyboard only, without scripts, with undo and resume, as assistive technology sees it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.rating import RatingApp, press, rating_app, start
from tests.support.app.browser import assert_accessible

pytestmark = pytest.mark.long


@pytest.fixture
def app(tmp_path) -> Iterator[RatingApp]:
    with rating_app(tmp_path, captions=2, retrieved=1, voiced=1) as app:
        yield app


def test_a_campaign_is_rated_to_completion_by_keyboard_only(page: Page, app: RatingApp):
    (rater,) = app.store.invite("english")
    page.goto(app.link(rater))
    for _ in range(4):  # the link to the content, the language, its button, Start
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Start")).to_be_focused()
    page.keyboard.press("Enter")
    for number, key in enumerate(["g", "b", "Tab", "g"], 1):
        expect(page).to_have_title(f"Item {number} of 4 – Hearsight")
        if key == "Tab":  # to the button, as without single keys
            while not page.get_by_role("button", name="Good").evaluate("each => each === document.activeElement"):
                page.keyboard.press("Tab")
            page.keyboard.press("Enter")
        else:
            press(page, key)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert sorted(rating["verdict"] for rating in app.store.final_ratings("english")) == ["BAD", "GOOD", "GOOD", "GOOD"]
    assert {rating["rater"] for rating in app.store.final_ratings("english")} == {rater}


def test_a_rater_undoes_and_resumes_in_another_browser(browser: Browser, app: RatingApp):
    link, shown = app.link(), []
    for number in (1, 2):
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        start(page, link)
        expect(page).to_have_title(f"Item {number} of 4 – Hearsight")
        shown.append(page.locator("img").get_attribute("src"))
        page.get_by_role("button", name="Good").click()
        expect(page).to_have_title(f"Item {number + 1} of 4 – Hearsight")
        if number == 2:
            press(page, "u")
            expect(page.get_by_text("taken back")).to_be_visible()
            expect(page).to_have_title("Item 2 of 4 – Hearsight")
            assert page.locator("img").get_attribute("src") == shown[-1]
            page.get_by_role("button", name="Bad").click()
            expect(page).to_have_title("Item 3 of 4 – Hearsight")
        context.close()
    assert len(set(shown)) == 2
    assert [rating["verdict"] for rating in app.store.final_ratings("english")] == ["GOOD", "BAD"]


def test_the_task_is_complete_in_the_accessibility_tree(page: Page, app: RatingApp):
    start(page, app.link())
    page.get_by_role("button", name="Good").click()
    expect(page).to_have_title("Item 2 of 4 – Hearsight")
    key = str(page.locator("img").get_attribute("src")).rpartition("/")[2]
    if app.items.audio(key):
        press(page, "g")
        expect(page).to_have_title("Item 3 of 4 – Hearsight")
        key = str(page.locator("img").get_attribute("src")).rpartition("/")[2]
    number, caption = page.title().split()[1], app.items.item(key)["caption"]
    tree = page.locator("main").aria_snapshot()
    expected = f"""- main:
  - region "Item {number} of 4":
    - heading "Item {number} of 4" [level=1]
    - progressbar "Rated so far": {int(number) - 1} / 4
    - paragraph: "Saved: good."
    - img "Image to rate"
    - heading "Description" [level=2]
    - paragraph: {caption}
    - form "Is the description good for this image?":
      - paragraph: Is the description good for this image?
      - button "Good"
      - button "Bad"
    - button "Undo the last answer"
  - region "Keys":
    - heading "Keys" [level=2]
    - paragraph: "Single keys work"
    - button "Switch single keys off"
    - paragraph:
      - link "How to rate":
        - /url: /rate/guidelines
    - button "Log out\""""
    cut = [line.partition(" while the focus")[0] + '"' if "Single keys work" in line else line for line in tree.splitlines()]
    assert cut == expected.splitlines()


def test_speech_is_played_with_a_key_and_not_shown(page: Page, tmp_path):
    with rating_app(tmp_path, captions=0, retrieved=0, voiced=1) as app:
        start(page, app.link())
        player, item = page.locator("audio"), app.items.item(app.items.keys[0])
        assert item["caption"] not in page.content()
        press(page, "p")
        expect(player).to_have_js_property("duration", 0.5)
        page.wait_for_function("document.querySelector('audio').played.length > 0")
        assert_accessible(page)


def test_single_keys_work_in_the_item_only_and_can_be_switched_off(page: Page, app: RatingApp):
    start(page, app.link())
    page.get_by_label("Language").focus()
    page.keyboard.press("g")
    page.keyboard.press("Control+g")
    expect(page).to_have_title("Item 1 of 4 – Hearsight")
    page.get_by_role("button", name="Switch single keys off").press("Enter")
    press(page, "g")
    expect(page.get_by_role("button", name="Switch single keys on")).to_be_visible()
    expect(page).to_have_title("Item 1 of 4 – Hearsight")
    assert app.store.final_ratings("english") == []


def test_everything_works_without_scripts_and_by_touch(browser: Browser, app: RatingApp):
    context = browser.new_context(
        locale="pt-BR", java_script_enabled=False, has_touch=True, viewport={"width": 320, "height": 640}
    )
    page = context.new_page()
    page.goto(app.link())
    page.get_by_role("button", name="Começar").tap()
    for number in range(1, 5):
        expect(page).to_have_title(f"Item {number} de 4 – Hearsight")
        # The title is there before the style sheet is.
        page.wait_for_load_state("load")
        for button in page.locator("#item button").all():
            box = button.bounding_box()
            assert box is not None and box["width"] >= 44 and box["height"] >= 44
        page.get_by_role("button", name="Boa" if number % 2 else "Ruim").tap()
    expect(page.get_by_role("heading", name="Obrigado")).to_be_visible()
    page.get_by_role("button", name="Desfazer a última resposta").tap()
    expect(page).to_have_title("Item 4 de 4 – Hearsight")
    context.close()
    assert len(app.store.final_ratings("english")) == 3


@pytest.mark.parametrize(("locale", "scheme", "begin"), [("en-GB", "light", "Start"), ("pt-BR", "dark", "Começar")])
def test_every_page_is_accessible_and_fits_a_small_screen(browser: Browser, tmp_path, locale, scheme, begin):
    context = browser.new_context(locale=locale, color_scheme=scheme, viewport={"width": 320, "height": 640})
    page = context.new_page()

    def check() -> None:
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320

    with rating_app(tmp_path, hosts=("127.0.0.1",), captions=1, retrieved=0, voiced=1) as app:
        page.goto(app.start_link)
        page.goto(f"{app.url}/rate")
        check()
        page.locator("form[action='/rate/invitations'] button").press("Enter")
        expect(page.locator(".links input")).to_have_count(3)
        check()
        page.locator("form[action='/rate/self'] button").press("Enter")
        expect(page.get_by_role("button", name=begin)).to_be_visible()
        check()
        page.get_by_role("button", name=begin).press("Enter")
        for _ in range(2):
            expect(page.locator(".verdicts")).to_be_visible()
            check()
            page.locator("button.good").press("Enter")
            page.wait_for_url("**after=good*")
        expect(page.locator("#thanks")).to_be_visible()
        check()
    context.close()
