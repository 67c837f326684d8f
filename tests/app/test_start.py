"""The start page: the pipeline with its states, what checks found, and links; and the files that it links, and no others."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page

from components.core.addresses import metrics_path
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from tests.app.server import OWNER, Running, running, settings_of
from tests.support import leave_warning, make_output, row
from tests.support.app.browser import assert_accessible
from tests.support.app.project import fail, finish, new_project
from tests.support.settings_files import edit_settings

pytestmark = pytest.mark.long

PAGES = {
    "data/english/report/report.html": "<title>English &amp; more</title>the report",
    "data/portuguese/posts_report/analysis.html": "the analysis",
    "data/stamps/evaluate_speech/listen.html": "what is heard",
    "data/captioners/evaluate_captioners/compare.html": "the captioners",
    "data/stamps/evaluate_retrieval/retrieval.html": "the scores",
    "data/stamps/build_search_index/neighbours.html": '<img src="images/1.jpg">',
    "reports/data_docs/spoken/pretrain_retrieval/index.html": "the docs",
}
"""One page of each kind that the project's own graph has."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in every state: english/crawl is up to date, filter has changed, dedup failed, hypernymize has warnings."""
    root = new_project(tmp_path_factory.mktemp("project"))
    for place, text in {
        **PAGES,
        "data/stamps/build_search_index/images/1.jpg": "an image",
        "data/nobody/report/report.html": "of no dataset of the graph",
        "secret.txt": "a secret",
    }.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    (root / "reports" / "way-out").symlink_to(root / "secret.txt")
    for stage in ("crawl", "filter"):
        make_output(root, stage, [[row(stage, key=f"{n}") for n in range(4 if stage == "crawl" else 1)]], "english")
    for stage in ("crawl", "filter", "hypernymize", "dedup"):
        finish(root, "english", stage, anew=stage not in ("crawl", "filter"))
    make_output(root, "evaluate_captioners", [], "captioners")
    scores = {"captioners": {"english": {"rnn1x1": {"cider_d": 0.5}, "t2t8x8": {"cider_d": 0.75}}}}
    metrics_path(root, "captioners", "evaluate_captioners").parent.mkdir(parents=True, exist_ok=True)
    metrics_path(root, "captioners", "evaluate_captioners").write_text(json.dumps(scores))
    edit_settings(root, lambda content: content["english"]["filter"].update(sides_over=98))
    shutil.rmtree(root / "data" / "english" / "dedup")
    fail(root, "english", "dedup", "expect_it")
    leave_warning(StageOutput(root / "data" / "english" / "hypernymize"))
    return root


@pytest.fixture(scope="module")
def site(root: Path) -> Iterator[Running]:
    with running(settings_of(root, links={"mlflow": "http://127.0.0.1:5000"})) as app:
        yield app


@pytest.fixture(scope="module")
def client(site: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=60, headers=OWNER) as client:
        yield client


def summary(page: Page, dataset: str) -> Locator:
    """The line that opens the table of a dataset."""
    return page.locator("summary").filter(has_text=re.compile(rf"^{dataset}\s"))


def test_every_page_and_the_docs_of_every_check_are_linked_and_served(client):
    page = client.get("/").text
    for place, text in PAGES.items():
        assert f'href="/files/{place}"' in page
        assert client.get(f"/files/{place}").text == text
    assert ">English &amp; more</a>" in page and 'href="http://127.0.0.1:5000"' in page


def test_the_images_of_a_page_are_served_with_their_type(client):
    answer = client.get("/files/data/stamps/build_search_index/images/1.jpg")
    assert answer.text == "an image" and answer.headers["content-type"] == "image/jpeg"
    assert "'unsafe-inline'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "place",
    [
        "secret.txt", "data/english/crawl/manifest.json", "data/nobody/report/report.html", "reports/%2e%2e/secret.txt",
        "reports/way-out", "data/", "reports", "", "%2fetc/passwd", "reports/%00", "a" * 5000,
    ],
)  # fmt: skip
def test_only_pages_and_their_files_are_served(client, place):
    assert client.get(f"/files/{place}").status_code == 404


def test_nobody_but_the_owner_sees_the_project(root):
    with running(settings_of(root)) as app:
        for path in ("/", *(f"/files/{place}" for place in PAGES)):
            assert httpx.get(f"{app.url}{path}").status_code == 403


@pytest.mark.parametrize(("locale", "states"), [
    ("en-GB", ["up to date", "changed: settings", "failed check", "warnings", "not run"]),
    ("pt-BR", ["atualizado", "alterado: configuração", "reprovado", "avisos", "não executado"]),
])  # fmt: skip
def test_the_state_of_each_output_is_in_the_drawing_and_in_a_table(browser, site, locale, states):
    context = browser.new_context(locale=locale, java_script_enabled=False)
    page = context.new_page()
    site.show(page)
    summary(page, "english").click()  # a <details> opens without a script
    for stage, state in zip(("crawl", "filter", "dedup", "hypernymize", "split"), states, strict=True):
        row = page.locator("details tr", has=page.get_by_role("rowheader", name=stage, exact=True)).filter(visible=True)
        assert row.locator("td").first.inner_text().lstrip("✓!↻✗○ ") == state
    drawn = page.locator("svg .node")
    assert drawn.count() == sum(1 for _ in load_graph(Path(site.app.state.settings.root)).outputs())
    assert drawn.filter(has_text=states[2]).count() == 1
    context.close()


def test_what_checks_found_is_listed_with_its_page(page, site):
    site.show(page)
    found = page.locator("ul.found li")
    assert found.count() == 2
    assert "english/hypernymize" in found.nth(0).inner_text()
    assert "english/dedup" in found.nth(1).inner_text() and "key expect_it found <3>" in found.nth(1).inner_text()
    assert found.nth(1).get_by_role("link").get_attribute("href").endswith("data_docs/english/dedup/shards.html")


def test_each_datasets_funnel_and_its_models_scores_are_tables_of_bars(page, site):
    site.show(page)
    english = page.locator(".results section").filter(has=page.get_by_role("heading", name="english", exact=True))
    rows = [row.inner_text().split() for row in english.locator("tr").all()]
    assert [row[0] for row in rows] == ["crawl", "filter", "hypernymize", "t2t8x8", "rnn1x1"]
    assert rows[0][1:] == ["4"] and rows[1][1:] == ["1"] and rows[3][1:] == ["0.750"]
    widths = [float(bar.get_attribute("width")) for bar in english.locator("rect").all()]
    assert widths == [100, 25, 0, 75, 50]
    assert english.locator("caption").all_inner_texts() == ["Records left", "CIDEr-D higher is better; a full bar is 1"]


def test_all_arrows_of_an_output_are_shown_when_it_is_pointed_at_and_the_others_fade(page, site):
    site.show(page)
    report = page.locator("svg .node").filter(has_text=re.compile(r"^\s*report\s"))
    graph = load_graph(Path(site.app.state.settings.root))
    read = graph.reads["english/report"]
    arrows = report.locator(".arrow")
    shown = "each => each.filter(one => getComputedStyle(one).display != 'none').length"
    assert arrows.count() == len(read) and page.locator("svg .arrow").evaluate_all(shown) == 0
    report.hover()
    assert page.locator("svg .arrow").evaluate_all(shown) == arrows.evaluate_all(shown) == len(read)
    others = page.locator("svg .node").filter(has_not_text=re.compile(r"^\s*report\s"))
    assert {float(each.evaluate("each => getComputedStyle(each).opacity")) for each in others.all()} == {0.35}
    summary(page, "english").click()
    row = page.locator("tr", has=page.get_by_role("rowheader", name="report", exact=True))
    listed = row.locator("td").nth(1).inner_text().split(", ")
    assert listed == [name.removeprefix("english/") for name in read] and {"filter", "paper/filter"} < set(listed)


@pytest.mark.parametrize("width", [1000, 1400])
def test_the_whole_drawing_is_seen_from_1000_px_on(page, site, width):
    page.set_viewport_size({"width": width, "height": 800})
    site.show(page)
    box = page.locator(".drawing")
    assert box.evaluate("each => each.scrollWidth <= each.clientWidth") and box.evaluate("each => each.clientWidth") > 0.7 * width


def test_a_narrow_page_has_neither_the_drawing_nor_what_is_said_about_it(page, site):
    page.set_viewport_size({"width": 480, "height": 800})
    site.show(page)
    assert not any(page.locator(name).first.is_visible() for name in (".drawing", ".legend"))
    assert "Point at" not in page.inner_text("main") and "dvc repro" in page.inner_text("main")


def test_results_experiments_and_runs_are_linked_at_the_top(page, site):
    site.show(page)
    first = page.locator("main ul").first.get_by_role("link")
    assert [each.get_attribute("href") for each in first.all()] == ["#results", "http://127.0.0.1:5000", "#pages"]


def test_the_header_is_at_the_same_place_on_every_page(page, site):
    page.set_viewport_size({"width": 1600, "height": 800})
    places = set()
    for path in ("/", "/rate", "/search", "/describe", "/feedback"):
        site.show(page, path)
        boxes = [page.get_by_role("link", name="Start", exact=True), page.get_by_role("button", name="Log out")]
        places.add(tuple(round(box["x"]) for each in boxes if (box := each.bounding_box())))
    assert len(places) == 1 and len(places.pop()) == 2


def test_one_line_says_that_everything_is_up_to_date(page, tmp_path):
    graph = load_graph(new_project(tmp_path))
    for name in graph.reads:
        dataset, _, stage = name.rpartition("/")
        finish(tmp_path, dataset, stage)
    with running(settings_of(tmp_path)) as app:
        app.show(page)
        line = page.get_by_text(f"Everything is up to date: {len(graph.reads)} outputs.")
        assert line.bounding_box()["y"] < page.locator(".drawing").bounding_box()["y"]
        assert "dvc repro" not in page.inner_text("main")


@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_is_accessible_and_fits_with_everything_open(page, site, width):
    page.set_viewport_size({"width": width, "height": 800})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        site.show(page)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert_accessible(page)


def test_every_page_is_reached_by_keyboard(page, site):
    site.show(page)
    summary(page, "stamps").focus()
    page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if "neighbours.html" in page.evaluate("document.activeElement.getAttribute('href') || ''"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/neighbours.html")


def test_a_project_without_a_run_names_the_first_command(page, tmp_path):
    with running(settings_of(new_project(tmp_path))) as app:
        app.show(page)
        assert "make demo" in page.inner_text("main") and "dvc repro" in page.inner_text("main")
        assert_accessible(page)
