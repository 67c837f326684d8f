"""``hearsight score`` and ``hearsight submission`` as a person calls them."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from components.cli.main import main
from components.metrics.coco import Captions
from components.metrics.jars import find_packaged_file
from components.tools.score import METRICS, score

PHOTOS = {
    139: (
        ["A woman stands in the dining area.", "A room with chairs, a table and her."],
        "a woman in a room with a table",
    ),
    285: (
        ["A burly grizzly bear in the grass.", "The large brown bear has a black nose."],
        "a brown bear in the grass",
    ),
    632: (["Bedroom scene with a bookcase, blue comforter and window."], "a bedroom with a bed and a window"),
    724: (["A stop sign installed upside down on a street corner."], "A stop sign on a street; it isn't upright!"),
}


def annotations(captions: dict) -> str:
    return json.dumps(
        {
            "info": {"description": "x"},
            "licenses": [],
            "images": [{"id": image, "file_name": f"COCO_val2014_{image:012d}.jpg"} for image in captions],
            "annotations": [
                {"id": 10 * image + at, "image_id": image, "caption": text}
                for image, (known, _) in captions.items()
                for at, text in enumerate(known)
            ],
        }
    )


def results(captions: dict) -> str:
    return json.dumps([{"image_id": image, "caption": text} for image, (_, text) in captions.items()])


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    known, written = tmp_path / "R.json", tmp_path / "C.json"
    known.write_text(annotations(PHOTOS))
    written.write_text(results(PHOTOS))
    return str(known), str(written)


def hearsight(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["hearsight", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def test_score_prints_every_metric_of_the_corpus_and_of_each_image_as_json(files, monkeypatch, capsys, tmp_path) -> None:
    out = tmp_path / "scores.json"
    arguments = ("score", "--references", files[0], "--candidates", files[1], "--meteor", "off")
    code, actual, _ = hearsight(monkeypatch, capsys, *arguments)
    result = json.loads(actual)
    assert code == 0 and result["images"] == 4
    assert set(result["metrics"]) | set(result["left_out"]) <= set(METRICS)
    assert set(result["metrics"]) >= {"bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider"}
    assert result["left_out"]["meteor"] == "not asked for" and "--spice PATH" in result["left_out"]["spice"]
    assert [item["image_id"] for item in result["items"]] == list(PHOTOS)
    for name in ("rouge_l", "cider"):
        assert result["metrics"][name] == pytest.approx(sum(item[name] for item in result["items"]) / 4)
    code, shorter, _ = hearsight(monkeypatch, capsys, *arguments, "--out", str(out))
    assert "items" not in json.loads(shorter) and json.loads(out.read_text()) == result


@pytest.mark.skipif(shutil.which("java") is None or find_packaged_file("meteor", "meteor-1.5.jar") is None, reason="needs Java")
def test_score_equals_the_published_tool_from_raw_captions_on(files, monkeypatch, capsys) -> None:
    import contextlib
    import io

    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    _, actual, _ = hearsight(monkeypatch, capsys, "score", "--references", files[0], "--candidates", files[1], "--meteor", "off")
    result = json.loads(actual)
    gts = PTBTokenizer().tokenize({image: [{"caption": text} for text in known] for image, (known, _) in PHOTOS.items()})
    res = PTBTokenizer().tokenize({image: [{"caption": text}] for image, (_, text) in PHOTOS.items()})
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, each_bleu = Bleu(4).compute_score(gts, res)
    assert [result["metrics"][f"bleu_{size}"] for size in range(1, 5)] == pytest.approx(bleu, abs=1e-9)
    assert [[item[f"bleu_{size}"] for item in result["items"]] for size in range(1, 5)] == [
        pytest.approx(each) for each in each_bleu
    ]
    for name, (mean, each) in {"rouge_l": Rouge().compute_score(gts, res), "cider": Cider().compute_score(gts, res)}.items():
        assert result["metrics"][name] == pytest.approx(mean, abs=1e-9)
        assert [item[name] for item in result["items"]] == pytest.approx(list(each), abs=1e-9)


def test_a_part_of_the_images_is_scored_only_on_request(files, monkeypatch, capsys, tmp_path) -> None:
    # The published example's 1,000 captions are of val2014's 40,504 images, and only those are scored.
    part = tmp_path / "part.json"
    part.write_text(results(dict(list(PHOTOS.items())[:2])))
    arguments = ("score", "--references", files[0], "--candidates", str(part), "--meteor", "off")
    code, result, problem = hearsight(monkeypatch, capsys, *arguments)
    assert (code, result) == (2, "") and problem.count("\n") == 1
    assert "no candidate for 2 images (632, 724) of 4" in problem and "--subset" in problem
    code, result, _ = hearsight(monkeypatch, capsys, *arguments, "--subset")
    assert code == 0 and [item["image_id"] for item in json.loads(result)["items"]] == [139, 285]


@pytest.mark.parametrize(
    ("known", "written", "expected"),
    [
        (None, "[]", "R.json: cannot be read: No such file"),
        ("", "[]", "R.json: is empty"),
        ("{", "[]", "R.json: is not JSON"),
        (annotations(PHOTOS), "{}", "C.json: is not in COCO's result format"),
        (annotations(PHOTOS), '[{"image_id": 139, "caption": 3}]', "C.json: has 3 as caption of image 139"),
        (annotations(PHOTOS), '[{"image_id": 5, "caption": "a"}]', "candidates for 1 image (5), not among the references"),
        (annotations(PHOTOS | {8: ([], "")}), results(PHOTOS | {8: ([], "a")}), "no reference for 1 image (8)"),
    ],
)
def test_bad_files_give_one_line_exit_code_2_and_no_result(known, written, expected, monkeypatch, capsys, tmp_path) -> None:
    for name, text in (("R.json", known), ("C.json", written)):
        if text is not None:
            (tmp_path / name).write_text(text)
    paths = ("--references", str(tmp_path / "R.json"), "--candidates", str(tmp_path / "C.json"))
    code, actual, problem = hearsight(monkeypatch, capsys, "score", *paths, "--out", str(tmp_path / "out.json"))
    assert (code, actual) == (2, "") and expected in problem and problem.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


def test_without_java_other_metrics_are_scored_and_missing_ones_named(files, monkeypatch, capsys) -> None:
    arguments = ("score", "--references", files[0], "--candidates", files[1], "--java", "no-such-java", "--spice", "/nowhere")
    code, actual, _ = hearsight(monkeypatch, capsys, *arguments)
    result = json.loads(actual)
    assert code == 0 and result["metrics"]["cider"] > 0
    assert "install" in result["left_out"]["meteor"] or "pycocoevalcap" in result["left_out"]["meteor"]
    assert "/nowhere/spice-1.0.jar does not exist" in result["left_out"]["spice"]


@pytest.mark.parametrize(
    "language, reason", [("ja", "no data for the language 'ja'"), ("fr", "data/paraphrase-fr.gz is not beside")]
)
def test_a_language_that_a_jar_does_not_know_is_left_out_with_the_reason(
    files, monkeypatch, capsys, tmp_path, language, reason
) -> None:
    (tmp_path / "meteor-1.5.jar").write_bytes(b"")
    options = ("--meteor", str(tmp_path), "--spice", str(tmp_path), "--language", language)
    code, actual, _ = hearsight(monkeypatch, capsys, "score", "--references", files[0], "--candidates", files[1], *options)
    result = json.loads(actual)
    assert code == 0 and not {"meteor", "spice"} & set(result["metrics"])
    assert reason in result["left_out"]["meteor"]
    assert result["left_out"]["spice"] == f"SPICE reads English, and these captions are in '{language}'"


def test_one_candidate_is_scored_with_a_note_that_cider_is_not_meaningful() -> None:
    scores = score(Captions([1], ["a dog"], [["a dog"]]), meteor_path="off")
    assert scores.corpus["bleu_1"] == pytest.approx(1, abs=1e-6) and scores.corpus["cider"] == 0
    assert any("idf" in note for note in scores.notes)


def test_a_candidate_without_a_word_scores_0_and_is_noted() -> None:
    scores = score(Captions([1, 2], ["...", "a cat"], [["a dog"], ["a cat", "!"]]), meteor_path="off")
    assert scores.items["rouge_l"][0] == 0 and scores.items["cider"][0] == 0
    assert any("1 of the candidates have no word" in note for note in scores.notes)
    assert any("1 of the references have no word" in note for note in scores.notes)
    json.dumps(scores.plain(), allow_nan=False)


def test_a_token_with_a_no_break_space_counts_as_the_published_tool_counts_it() -> None:
    # "7 1/2" is one token: two words to its BLEU, one to its ROUGE.
    scores = score(Captions([1, 2], ["size 7 1/2", "a cat"], [["size 7"], ["a cat"]]), meteor_path="off")
    assert scores.items["bleu_1"][0] == pytest.approx(2 / 3, abs=1e-6)
    assert scores.items["rouge_l"][0] == pytest.approx(1 / 2, abs=1e-6)


def test_a_submission_is_written_a_split_at_a_time_into_one_zip(monkeypatch, capsys, tmp_path) -> None:
    written, ids, out = tmp_path / "C.json", tmp_path / "ids.json", tmp_path / "server"
    written.write_text(results({2: ([], "a café"), 1: ([], "a dog")}))
    ids.write_text(json.dumps({"images": [{"id": 1}, {"id": 2}]}))
    arguments = ("submission", "--candidates", str(written), "--algorithm", "t2t-8x8", "--out", str(out), "--images", str(ids))
    code, actual, _ = hearsight(monkeypatch, capsys, *arguments, "--split", "test2014")
    assert code == 0 and "val2014" in json.loads(actual)["lacking"]
    code, actual, _ = hearsight(monkeypatch, capsys, *arguments, "--split", "val2014")
    result = json.loads(actual)
    assert "lacking" not in result and result["captions"] == 2 and result["images_of_the_split"] == 40_504
    with zipfile.ZipFile(result["zip"]) as bundle:
        assert bundle.namelist() == ["captions_val2014_t2t-8x8_results.json", "captions_test2014_t2t-8x8_results.json"]
        for name in bundle.namelist():
            content = json.loads(bundle.read(name))
            assert content == [{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "a café"}]
            assert bundle.read(name) == (out / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "captions", "expected"),
    [
        ({"--split": "train2014"}, {1: "a"}, "no split of the server"),
        ({"--algorithm": "my_model"}, {1: "a"}, "cannot name the server's files"),
        ({"--algorithm": "../x"}, {1: "a"}, "cannot name the server's files"),
        ({}, {"1": "a"}, "the server's ids are numbers"),
        ({}, {1: " "}, "an empty caption for image 1"),
        ({}, {1: "a"}, "no caption for 1 of 2 images (2)"),
        ({}, {1: "a", 2: "b", 3: "c"}, "not in it: 1 of 2 images (3)"),
        ({"--images": "words"}, {1: "a"}, "invalid image id"),
    ],
)
def test_an_invalid_submission_gives_one_line_exit_code_2_and_no_file(
    change, captions, expected, monkeypatch, capsys, tmp_path
) -> None:
    (tmp_path / "C.json").write_text(json.dumps([{"image_id": image, "caption": text} for image, text in captions.items()]))
    (tmp_path / "ids").write_text("1\n2\n")
    (tmp_path / "words").write_text("one\ntwo\n")
    options = {"--candidates": "C.json", "--split": "val2014", "--algorithm": "x", "--out": "server", "--images": "ids"} | change
    monkeypatch.chdir(tmp_path)
    code, result, problem = hearsight(monkeypatch, capsys, "submission", *(word for pair in options.items() for word in pair))
    assert (code, result) == (2, "") and expected in problem and problem.count("\n") == 1
    assert not (tmp_path / "server").exists()
