"""A sweep counts what the rules themselves would keep, at every threshold, whatever the texts are and however they come."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.cli.texts import calibrate as print_sweep
from components.core.errors import HearsightError
from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import GROUPS, TEXT_GROUPS, first_failures, make_subject
from components.tools.calibrate.run import as_written, line_shards, measure, measured_schema, parse_number
from components.tools.calibrate.sweep import SAMPLES, SWEPT, Sweep, choose_rules, rates_tsv
from components.tools.trial import annotate_group
from tests.support import PROJECT, command, make_output, make_stage, row
from tests.support.filter.subjects import PAPER

ALTS = [
    "A dog runs on the beach.",
    "A dog runs on the beach - Stock Photo",
    "Dog Dog Dog Dog",
    "The Red Kite Over The Water Of The Bay",
    "A wonderful, lovely, superb and happy day on the best beach in the world",
    "A terrible murder of the horrible and evil war in the city",
    "A xylqzzt on the table of a house",
    "",
    "!!!",
    "Un chien sur la plage de la mer",
    "Table chair lamp house on the floor",
    "<script>alert(1)</script> A dog & a cat on the \u201cbeach\u201d",
]


def measure_texts(root: Path, alts: list[str]) -> list[pa.Table]:
    half = len(alts) // 2
    shards = [
        [row("crawl", key=f"{at:016d}", alt=alt, language="en") for at, alt in enumerate(alts)][part]
        for part in (slice(half), slice(half, None))
    ]
    source = make_output(root, "crawl", shards)
    job = make_stage(root, "calibrate", params=PAPER, inputs={"input": source})
    return list(measure(job, source.shards))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[pa.Table]:
    return measure_texts(tmp_path_factory.mktemp("measured"), ALTS)


def swept(tables: list[pa.Table], **params: float) -> Sweep:
    made = Sweep(PAPER.model_copy(update=params), list(SWEPT))
    for table in tables:
        made.add(table)
    return made


def test_each_swept_rule_and_its_setting_exist() -> None:
    rules = {rule.name for group in TEXT_GROUPS for rule in GROUPS[group]}
    assert {each.rule for each in SWEPT} - {"image_text"} == {each.rule for each in choose_rules([])} <= rules
    for each in SWEPT:
        assert each.by.low <= getattr(PAPER, each.setting) <= each.by.high, each.rule


@pytest.mark.long
@pytest.mark.parametrize("each", choose_rules([]), ids=lambda each: each.rule)
def test_every_threshold_counts_what_the_rule_itself_would_keep(tables: list[pa.Table], each: Any) -> None:
    lists = load_boilerplate("en")
    subjects = {str(at): make_subject(alt, lists, PAPER.max_characters) for at, alt in enumerate(ALTS)}
    for subject in subjects.values():
        subject.language = "en"
    for group in TEXT_GROUPS:
        annotate_group(group, subjects)
    (test,) = [rule.test for rules in GROUPS.values() for rule in rules if rule.name == each.rule]
    (curve,) = [curve for curve in swept(tables).curves if curve.swept is each]
    for threshold in [t for t in curve.grid if t in curve.inside or round(t * 20) == t * 20]:
        params = PAPER.model_copy(update={each.setting: threshold})
        alone = [key for key, subject in subjects.items() if test(subject, params).passed]
        left = subjects.keys() - first_failures(subjects, annotate_group, params, TEXT_GROUPS).keys()
        at = curve.grid.index(threshold)
        assert (curve.alone[at], curve.left[at]) == (len(alone), len(left)), threshold


def test_samples_lie_on_their_side_and_are_nearest_first(tables: list[pa.Table]) -> None:
    for curve in swept(tables).curves:
        for threshold, side in curve.inside.items():
            other = curve.outside[threshold]
            assert len(side) <= SAMPLES and len(other) <= SAMPLES
            assert all(curve.swept.allows(np.array([s.value]), threshold)[0] for s in side)
            assert not any(curve.swept.allows(np.array([s.value]), threshold)[0] for s in other)
            for some in (side, other):
                assert [(s.dropped, s.distance) for s in some] == sorted((s.dropped, s.distance) for s in some)
                assert len({s.text for s in some}) == len(some)


VALUES = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1), st.lists(st.sampled_from(["noun_ratio", "min_words"]), unique=True)),
    max_size=25,
)


def table_of(rows: list[tuple[str, float, list[str]]]) -> pa.Table:
    made = [{"text": text, "failing": names, **{each.rule: value for each in SWEPT}} for text, value, names in rows]
    return pa.Table.from_pylist(made, schema=measured_schema())


@pytest.mark.long
@given(VALUES, st.integers(0, 25))
def test_the_partition_into_shards_changes_no_verdict(rows: list[Any], cut: int) -> None:
    whole, parts = swept([table_of(rows)]), swept([table_of(rows[:cut]), table_of(rows[cut:])])
    assert rates_tsv(whole) == rates_tsv(parts)
    for one, two in zip(whole.curves, parts.curves, strict=True):
        assert one.inside == two.inside and one.outside == two.outside


@given(VALUES)
def test_a_looser_threshold_never_keeps_less(rows: list[Any]) -> None:
    for curve in swept([table_of(rows)]).curves:
        for counts in (curve.alone, curve.left):
            steps = np.diff(counts if curve.swept.by.sign != ">=" else counts[::-1])
            assert (steps >= 0).all()
        assert int(curve.left.max(initial=0)) <= curve.eligible <= len(rows)


@given(VALUES, st.floats(0.01, 1))
def test_a_threshold_of_a_share_keeps_it_and_no_stricter_one_does(rows: list[Any], share: float) -> None:
    sweep = Sweep(PAPER, choose_rules(["noun_ratio", "polarity_low", "image_text"]), share)
    sweep.add(table_of(rows))
    for curve in sweep.curves:
        found = [value for _, value, names in rows if not set(names) - {curve.swept.rule}]
        if not found:
            assert curve.swept.rule not in sweep.thresholds()
            continue
        threshold = sweep.thresholds()[curve.swept.rule]
        passing = int(curve.swept.allows(np.array(found), threshold).sum())
        stricter = sum(value > threshold if curve.swept.by.sign == ">=" else value < threshold for value in found)
        assert passing >= share * len(found) > stricter


def test_every_parse_is_kept_and_a_second_measuring_computes_nothing(tmp_path: Path) -> None:
    source = make_output(tmp_path, "crawl", [[row("crawl", key="0" * 16, alt=ALTS[0], language="en")]])
    for expected in ("0 of 1", "1 of 1"):
        job = make_stage(tmp_path, "calibrate", params=PAPER, inputs={"input": source})
        assert next(iter(measure(job, source.shards))).num_rows == 1
        assert job.cache_summary() == {"values": expected}


def test_numbers_after_words_are_read() -> None:
    assert (
        parse_number(0.5),
        parse_number("baguette (3.21)"),
        parse_number("(x) (-1.5)"),
        parse_number(""),
        parse_number("word"),
    ) == (
        0.5,
        3.21,
        -1.5,
        None,
        None,
    )


@given(st.lists(st.binary(max_size=30)))
def test_lines_of_any_bytes_become_shards(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    stream = io.BytesIO(b"\n".join(lines))
    shards = line_shards(stream, tmp_path_factory.mktemp("lines"))
    texts = [text for shard in shards for text in shard.read().column("alt").to_pylist()]
    assert all(text and text == " ".join(text.split()) for text in texts)
    assert len(texts) <= b"\n".join(lines).count(b"\n") + 1


def test_a_rule_that_cannot_be_swept_gives_a_one_line_error() -> None:
    assert [each.rule for each in choose_rules(["noun_ratio", "polarity_low"])] == ["polarity_low", "noun_ratio"]
    with pytest.raises(HearsightError, match="did you mean 'noun_ratio'"):
        choose_rules(["noun_ration"])
    with pytest.raises(HearsightError, match="these can: capital_ratio"):
        choose_rules(["pornography"])


def project(root: Path) -> dict[str, str]:
    """Make a project of the test's own, with the project's code and settings; the environment of its commands."""
    root.mkdir()
    for name in ("dvc.yaml", "params.yaml", "datasets", "components"):
        (root / name).symlink_to(PROJECT / name)
    return {"HEARSIGHT_TRACKING": "off", "HEARSIGHT_ROOT": str(root)}


def test_lines_of_standard_input_give_rates_and_samples(tmp_path: Path) -> None:
    lines, out = "\n".join(ALTS).encode(), str(tmp_path / "out")
    environment = project(tmp_path / "p")
    words = ("--alts", "-", "--rule", "noun_ratio", "--out", out, "--pass-rate", "1")
    done = command.hearsight("calibrate", *words, stdin=lines, **environment)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["candidates"] == len(ALTS) - 1  # the empty line is none
    assert 0 < output["thresholds"]["noun_ratio"] <= 1
    rows = list(csv.DictReader((tmp_path / "out" / "rates.tsv").open(), delimiter="\t"))
    assert {each["rule"] for each in rows} == {"noun_ratio"}
    assert [each["value"] for each in rows if each["present"] == "yes"] == ["0.8"]
    assert [each["passed"] for each in rows if each["value"] == "1"] == [str(len(ALTS) - 1)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["rates.tsv", "samples.tsv"]
    samples = list(csv.DictReader((tmp_path / "out" / "samples.tsv").open(), delimiter="\t"))
    assert {each["side"] for each in samples if each["threshold"] == "0.8"} == {"inside", "outside"}


def test_on_a_terminal_it_says_how_many_texts_pass_and_where_the_table_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in project(tmp_path / "p").items():
        monkeypatch.setenv(name, value)
    (tmp_path / "alts.txt").write_text("A dog runs on the beach.\nDog\n", encoding="utf-8")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_sweep("english", ["noun_ratio"], str(tmp_path / "alts.txt"), "", tmp_path / "out")
    counts, sentence = capsys.readouterr().out.splitlines()
    assert counts.endswith("candidates 2  pass_all 1")
    table = tmp_path / "out" / "rates.tsv"
    passing = "1 of 2 texts pass every text rule with the settings of english"
    assert sentence == f"{passing}; what other values keep: {table}" and table.is_file()


@pytest.mark.long
def test_published_captions_show_what_each_rule_alone_drops(tmp_path: Path) -> None:
    captions = ["person walks the dog , and it is happy .\thttp://pictures.example/1.jpg", "we do n't", "dog dog dog dog"]
    (tmp_path / "published.tsv").write_text("\n".join(captions), encoding="utf-8")
    lines, out = "\n".join(ALTS).encode(), str(tmp_path / "out")
    done = command.hearsight(
        "calibrate",
        "--alts",
        "-",
        "--published",
        str(tmp_path / "published.tsv"),
        "--out",
        out,
        stdin=lines,
        **project(tmp_path / "p"),
    )
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert output["candidates"] == len(ALTS) - 1 and output["published"] == 3 and output["published_pass_all"] == 1
    assert {"needs_noun", "token_repetition"} <= output["published_loss"].keys() and output["published_loss"][
        "needs_noun"
    ] == 0.3333
    rows = list(csv.DictReader((tmp_path / "out" / "rates.tsv").open(), delimiter="\t"))
    lost = {(each["rule"], each["value"]): each["published_loss"] for each in rows}
    assert lost["token_repetition", "0.4"] == "0.3333" and lost["token_repetition", "1"] == "0.0000"


@pytest.mark.parametrize(
    ("published", "written"),
    [
        ("actor 's dog is n't here , is it ?\thttp://a.example/1.jpg", "Actor's dog isn't here, is it?"),
        ("a view - from ( above )", "A view - from ( above)"),
        ("4 of a kind", "4 of a kind"),
        ("", ""),
    ],
)
def test_a_published_caption_is_read_as_a_person_would_write_it(published: str, written: str) -> None:
    assert as_written(published) == written


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("--published", "no/such/file"),
        ("--alts", "no/such/file"),
        ("--alts", "-"),
        ("--rule", "nonsense"),
        ("--dataset", "nobody"),
    ],
)
def test_an_invalid_sweep_gives_one_line_and_exit_code_2(tmp_path: Path, words: tuple[str, ...]) -> None:
    environment = project(tmp_path / "p")
    done = command.hearsight("calibrate", *words, "--out", str(tmp_path / "out"), **environment)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.strip().splitlines()[-1].startswith(b"hearsight: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_the_tracker_contains_the_study_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: list[pa.Table]) -> None:
    from components.tracking.record import connect
    from components.tracking.recorder import record_study

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("HEARSIGHT_TRACKING", raising=False)
    sweep = swept(tables)
    (tmp_path / "rates.tsv").write_text(rates_tsv(sweep))
    result = [
        record_study(tmp_path, "english", "calibrate", PAPER.plain(), sweep.numbers(), [tmp_path / "rates.tsv"]) for _ in range(2)
    ]
    assert result[0] is not None and result[0] == result[1]
    client = connect(tmp_path)
    run = client.get_run(result[0])
    assert run.data.metrics["candidates"] == len(ALTS) and run.data.params["max_noun_ratio"] == "0.8"
    curve = client.get_metric_history(result[0], "curve.noun_ratio")
    assert {point.step for point in curve} >= {0, 750, 1000}
    assert [item.path for item in client.list_artifacts(result[0], "files")] == ["files/rates.tsv"]
