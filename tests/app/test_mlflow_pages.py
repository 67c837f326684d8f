"""MLflow's pages, in a browser, show what a person compares: two captioners by settings and scores, and a model's data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from components.tracking.recorder import record_run
from flows.ui import mlflow_server
from tests.support import HANG, row
from tests.support.flows.served import free_port
from tests.support.tracking.project import finish, train_rows, weights

pytestmark = pytest.mark.long

SCORES = {"english-rnn1x1-0": 0.375, "english-t2t8x8-1": 0.625}


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of MLflow's server with two captioners and their evaluation, and the digest of their training data."""
    root = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MLFLOW_TRACKING_URI", "HEARSIGHT_PIPELINE_RUN"):
            patch.delenv(name, raising=False)
        patch.setenv("HEARSIGHT_TRACKING", "now")
        data = finish(root, "extract_features", {}, [row("extract_features", key="a")])
        cells = {}
        for name in SCORES:
            network, _, seed = name.removeprefix("english-").partition("-")
            files = weights(root / "made" / seed, int(seed))
            models = [model | {"key": f"{network}-{seed}"} for model in train_rows(files)]
            cell = f"captioners/cells/english-{network}"
            inputs = {"input": "english/extract_features"}
            assert record_run(finish(root, "train_captioner", inputs, models, files=files, dataset=cell))
            cells[f"english-{network}"] = f"{cell}/train_captioner"
        scores = [(name, {"test/english/cider_d": value}) for name, value in SCORES.items()]
        rows = [row("evaluate_captioners", key="a")]
        assert record_run(finish(root, "evaluate_captioners", cells, rows, scores=scores, dataset="captioners"))
        with mlflow_server(root, free_port()) as url:
            yield url, data.manifest.digest


@pytest.fixture
def page(digest: tuple[str, str], browser: Browser) -> Iterator[Page]:
    """The list of captioners, which a person reaches by one click from the server's address."""
    page = browser.new_page(viewport={"width": 1500, "height": 1000})
    page.set_default_timeout(HANG * 1000)
    page.goto(digest[0])
    page.get_by_role("link", name="captioner-models").click()
    yield page
    page.close()


def test_the_pages_open_on_the_experiments_without_an_assistant_or_a_notice(digest: tuple[str, str], browser: Browser) -> None:
    page = browser.new_page()
    page.goto(digest[0])
    expect(page.get_by_role("heading", name="Experiments")).to_be_visible(timeout=HANG * 1000)
    expect(page.get_by_text("press Compare").first).to_be_visible(timeout=HANG * 1000)
    expect(page.get_by_text("Model registry")).to_be_visible()
    shown = page.inner_text("body")
    assert "Ask a question" not in shown and "telemetry" not in shown
    page.close()


def test_two_captioners_are_compared_by_their_settings_and_scores(page: Page) -> None:
    for name in SCORES:
        line = page.locator(".ag-row", has=page.get_by_text(name, exact=True)).first
        number = line.get_attribute("row-id")
        page.locator(f".ag-row[row-id='{number}'] input[type=checkbox]").first.click(force=True)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("Comparing 2 Runs")).to_be_visible()
    for switch in page.get_by_text("Show diff only").all():
        switch.click()
    shown = page.inner_text("body")
    assert all(str(score) in shown for score in SCORES.values()) and "test/english/cider_d" in shown
    assert all(text in shown for text in ("learning_rate", "0.001", "0.002", "rnn1x1", "t2t8x8"))
    assert "label_smoothing" not in shown, "equal settings are hidden"


def test_the_page_of_a_model_names_its_training_data(page: Page, digest: tuple[str, str]) -> None:
    page.get_by_text("english-t2t8x8-1", exact=True).first.click()
    expect(page.get_by_text("english/extract_features").first).to_be_visible()
    expect(page.get_by_text(digest[1][:8]).first).to_be_visible()
    expect(page.get_by_text("english-t2t8x8-captioner").first).to_be_visible()
