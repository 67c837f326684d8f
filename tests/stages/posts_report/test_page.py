"""Page, figures and tables agree with ledgers and records, are reproducible, and state missing content."""

from __future__ import annotations

import csv
import re
import shutil
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from components.cli.main import app
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.stages.posts_report import Params
from components.stages.posts_report.run import run
from tests.stages.posts_report.support import PARAMS, SAID, inputs, key
from tests.support import leave_warning, make_output, make_stage, row
from tests.support.settings_files import copy_settings


def analyze(root, given: dict[str, StageOutput], params: Params = PARAMS):
    stage = make_stage(root, "posts_report", "portuguese", params=params, inputs=given)
    exported: dict[str, bytes] = {}
    stage.export = exported.__setitem__
    run(stage)
    stage.finish()
    return StageOutput(stage.out), exported, {name: value for name, value, _ in stage.metrics}


class Page(HTMLParser):
    """The images, tables and text of a page, and whether every tag is closed."""

    VOID = frozenset({"meta", "img", "br", "link", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[dict] = []
        self.tables: list[dict[str, int]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "img":
            self.images.append(dict(attrs))
        if tag == "table":
            self.tables.append({"th": 0, "scoped": 0})
        if tag == "th":
            self.tables[-1]["th"] += 1
            self.tables[-1]["scoped"] += "scope" in dict(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    root = tmp_path_factory.mktemp("whole")
    given = inputs(root, totals=b"date,total\n2023-02-01,40\n2024-02-01,60\n")
    given["comparison"] = make_output(root / "other", "split", [[row("split", key="e", caption="a dog runs on grass")]])
    leave_warning(given["input"])
    return given, *analyze(root, given)


@pytest.mark.long
def test_a_warning_of_an_input_appears_once_on_the_page(analysed):
    assert analysed[1].file("analysis.html").read_text().count("found &lt;0.7&gt;") == 1


def table(exported: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(exported[f"{name}.csv"].decode().splitlines()))


def test_losses_are_counted_by_the_ledgers_in_shares_of_all_that_was_collected(analysed):
    _, _, exported, metrics = analysed
    result = {r["step"]: (r["posts"], r["share"], r["rules"]) for r in table(exported, "loss") if r["series"] == "portuguese"}
    assert result["turned private or withdrawn since"] == ("1", "0.0714", "account_private 1")
    assert result["no image that can be used"] == ("1", "0.0714", "video 1")
    assert result["malformed description"] == ("1", "0.0714", "no_mark 1")
    assert result["duplicate"] == ("5", "0.3571", "duplicate_post 5")
    assert result["all steps"][:2] == ("8", "0.5714")
    assert {r["share"] for r in table(exported, "loss") if r["series"] == "#PraCegoVer"} == {"0.023", "0.096", "0.449", "0.568"}
    assert (metrics["collected"], metrics["posts"], metrics["lost_duplicate"]) == (14, 6, 5 / 14)


def test_growth_has_both_dates_and_the_total_of_the_tag(analysed):
    _, result, exported, _ = analysed
    rows = table(exported, "growth")
    last = {r["series"]: (r["date"], int(r["posts"])) for r in rows}
    assert last == {
        "by day posted": ("2023-09-11", 11), "by day collected": ("2024-02-03", 12), "all posts of the tag": ("2024-02-01", 60),
    }  # fmt: skip
    text = Page(result.file("analysis.html").read_text()).text
    assert "Posts without a date (by day posted): 1" in text and "18.3 % of the 60 posts that carry the tag" in text


def test_every_figure_has_a_description_and_every_table_headers(analysed):
    _, result, _, _ = analysed
    page = Page(result.file("analysis.html").read_text())
    assert page.open == [] and len(page.images) >= 12
    assert all(len(image["alt"]) > 20 for image in page.images)
    assert all(result.file(image["src"]).read_bytes().startswith(b"\x89PNG") for image in page.images)
    assert page.tables and all(each["th"] == each["scoped"] > 0 for each in page.tables)
    rows = result.table().to_pylist()
    assert {r["path"] for r in rows} == {image["src"] for image in page.images} | {"analysis.html"}
    assert all(result.file(r["path"]) for r in rows)


@pytest.mark.long
def test_equal_inputs_give_equal_bytes(analysed, tmp_path):
    given, result, exported, _ = analysed
    again, others, _ = analyze(tmp_path, given)
    assert again.digest == result.digest and others == exported


def test_duplicates_on_a_sheet_share_a_letter_and_the_dropped_one_is_marked(analysed):
    _, _, exported, _ = analysed
    rows = {r["key"]: r for r in table(exported, "sheets")}
    pairs = [
        (rows[key(f"post {n}")], rows[key(f"post {n + 6}")])
        for n in range(6)
        if {key(f"post {n}"), key(f"post {n + 6}")} <= set(rows)
    ]
    together = [pair for pair in pairs if pair[0]["cluster"] == pair[1]["cluster"] and pair[0]["duplicates"]]
    assert together and all(one["duplicates"] == other["duplicates"] for one, other in together)
    assert all((one["dropped"], other["dropped"]) == ("0", "1") for one, other in together)


def test_show_prints_the_summary_of_a_set_that_ends_in_its_analysis(analysed, tmp_path, monkeypatch):
    _, result, _, _ = analysed
    copy_settings(tmp_path)
    shutil.copytree(result.path, tmp_path / "data" / "portuguese" / "posts_report")
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    line = leave_warning(make_output(tmp_path, "crawl", [[]], "portuguese"))
    shown = CliRunner().invoke(app, ["show", "--dataset", "portuguese"])
    assert line in shown.output
    assert shown.exit_code == 0, shown.output
    assert "portuguese: 14 posts collected, 6 left, of 3 owners" in shown.output and "analysis.html" in shown.output


def test_words_of_the_set_and_of_the_second_set_are_counted(analysed):
    _, result, exported, metrics = analysed
    assert {r["series"] for r in table(exported, "lengths")} == {"portuguese", "english"}
    assert sum(int(r["words"]) for r in table(exported, "frequencies") if r["series"] == "portuguese") == metrics["vocabulary"]
    assert [r["word"] for r in table(exported, "physical")] == [
        "gordo",
        "gordos",
        "gorda",
        "gordas",
        "magro",
        "magros",
        "magra",
        "magras",
    ]
    assert {r["topic"] for r in table(exported, "topics")} == {"1", "2"}
    assert "words per description" in result.file("summary.txt").read_text()


def test_words_that_co_occur_with_a_group_more_often_than_by_chance_are_listed(analysed):
    _, _, exported, _ = analysed
    met = {(r["group"], r["word"]): r for r in table(exported, "bias")}
    assert met["black women", "racismo"]["together"] == "2" and float(met["black women", "racismo"]["npmi"]) == 1.0
    assert ("white men", "teatro") in met and ("white men", "racismo") not in met
    assert all(float(r["npmi"]) > 0 for r in met.values())


@pytest.mark.long
@pytest.mark.parametrize(
    "posts, clusters, expected",
    [
        (
            0,
            (0,),
            ["Nothing was collected", "No post has a date", "No clusters: there was no image", "No descriptions are left"],
        ),
        (1, (-1,), ["No clusters: every post is an outlier", "too few to report", "Too few words occur in several descriptions"]),
        (5, (0,), ["No duplicates among them", "not measured", "There is no second set for comparison"]),
    ],
)
def test_the_page_states_missing_content(tmp_path, posts, clusters, expected):
    result, exported, _ = analyze(tmp_path, inputs(tmp_path, posts, clusters=clusters))
    text = result.file("analysis.html").read_text()
    page = Page(text)
    assert page.open == [] and [s for s in expected if s not in text] == []
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", page.text.lower())
    assert all(exported[name].count(b"\n") >= 1 for name in exported)


@pytest.mark.long
def test_an_unreadable_image_leaves_an_empty_cell_on_the_sheet(tmp_path):
    given = inputs(tmp_path)
    for shard in (given["crawl"].path / "media").glob("*.tar"):
        shard.unlink()
    result, _, _ = analyze(tmp_path, given)
    assert any(r["key"].startswith("sheet_") for r in result.table().to_pylist())


@pytest.mark.long
def test_languages_without_stop_words_or_lists_are_refused_by_name(tmp_path):
    given = inputs(tmp_path)
    with pytest.raises(HearsightError, match="spaCy has no stop words for 'xx'"):
        analyze(tmp_path, given, PARAMS.model_copy(update={"language": "xx"}))
    result, _, _ = analyze(tmp_path, given, PARAMS.model_copy(update={"language": "en"}))
    text = result.file("analysis.html").read_text()
    assert "no list of such words for this language" in text and "No groups of people are listed" in text


def test_a_malformed_table_of_totals_is_refused(tmp_path):
    with pytest.raises(HearsightError, match=r"is not a table with the columns date,total"):
        analyze(tmp_path, inputs(tmp_path, totals=b"day;n\n1;2\n"))


@pytest.mark.long
def test_captions_are_escaped_in_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.stages.posts_report.support.SAID", ("<script>alert(1)</script> cachorro & gato", *SAID[1:]))
    result, _, _ = analyze(tmp_path, inputs(tmp_path, 8))
    text = result.file("analysis.html").read_text()
    assert "<script" not in text and "&lt;script&gt;alert(1)" in text
    assert Page(text).open == []
