"""Seeded corruptions of each output: what is changed, and the file, column and expectation that must be named for it."""

from __future__ import annotations

from typing import Any

from tests.support.check.boundaries import Change


def put(**values: Any) -> Change:
    """Set columns of the shard's second record."""
    return lambda rows, ledger: rows[1].update(values)


def put_ledger(**values: str) -> Change:
    """Set columns of the shard's second ledger row."""
    return lambda rows, ledger: ledger[1].update(values)


def copy_key(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    rows[1]["key"] = rows[0]["key"]


def forget(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    """A record that the ledger keeps and that is in no shard."""
    del rows[1]


def same_manner(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    rows[1].update({name: rows[0][name] for name in ("voice", "rate", "pitch", "gain")})


def part_group(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    rows[3]["group"] = rows[0]["group"]


def part_audio(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    """The audio of a training record with one of the test."""
    rows[3].update(audio_sha256=rows[0]["audio_sha256"], media=rows[0]["media"])


UNIQUE, BETWEEN = "expect_column_values_to_be_unique", "expect_column_values_to_be_between"
REGEX, LENGTH = "expect_column_values_to_match_regex", "expect_column_value_lengths_to_be_between"
IN_SET, EQUAL = "expect_column_values_to_be_in_set", "expect_column_pair_values_to_be_equal"
GREATER = "expect_column_pair_values_a_to_be_greater_than_b"
COMPOUND = "expect_compound_columns_to_be_unique"
SHARD, LEDGER = "shards/00001.parquet", "ledger/00001.parquet"
CORRUPTIONS: dict[str, list[tuple[Change, str, str, str]]] = {
    "crawl": [
        (put(width=0), SHARD, "width", BETWEEN),
        (put(phash="xyz"), SHARD, "phash", REGEX),
        (put(image_sha256="0" * 64), SHARD, "image_sha256, media_sha256", EQUAL),
        (put(alt=""), SHARD, "alt", LENGTH),
        (put_ledger(verdict="maybe"), LEDGER, "verdict", IN_SET),
    ],
    "filter": [
        (put(text=""), SHARD, "text", LENGTH),
        (put(format="TIFF"), SHARD, "format", IN_SET),
        (forget, SHARD, "lost", BETWEEN),
    ],
    "hypernymize": [
        (put(caption=" a  dog"), SHARD, "caption", "expect_column_values_to_not_match_regex"),
        (put(caption=""), SHARD, "caption", LENGTH),
        (put_ledger(rule="too_small"), LEDGER, "verdict+ruled", IN_SET),
    ],
    "extract_descriptions": [
        (put(caption="Um cão corre na grama"), SHARD, "caption", REGEX),
        (put(caption="Um cão na #grama verde."), SHARD, "caption", "expect_column_values_to_not_match_regex"),
        (put(steps=[]), SHARD, "steps_count", BETWEEN),
    ],
    "dedup": [
        (copy_key, "shards/00001.parquet", "key", UNIQUE),
        (put(group="cluster 7"), SHARD, "group", REGEX),
        (put_ledger(kind="thing"), LEDGER, "kind", IN_SET),
    ],
    "split": [
        (put(split="dev"), SHARD, "split", IN_SET),
        (part_group, SHARD, "splits", BETWEEN),
        (put_ledger(verdict="dropped"), LEDGER, "verdict+ruled", IN_SET),
    ],
    "synthesize": [
        (put(seconds=0.0), SHARD, "seconds", BETWEEN),
        (put(split="test"), SHARD, "splits", BETWEEN),
        (put(audio_sha256="0" * 64), SHARD, "audio_sha256, media_sha256", EQUAL),
        (same_manner, SHARD, "record, voice, rate, pitch, gain", COMPOUND),
        (put(clipped=1), SHARD, "clipped", BETWEEN),
        (put(peak=0.0), SHARD, "peak", BETWEEN),
        (put(lead=-0.4), SHARD, "lead", BETWEEN),
        (put(tail=-0.4), SHARD, "tail", BETWEEN),
        (put(level=1.0), SHARD, "level", BETWEEN),
        (put(seconds_per_character=0.0), SHARD, "seconds_per_character", BETWEEN),
        (put(origin="human"), SHARD, "origin", IN_SET),
        (put(voice="alto"), "shards", "asked", IN_SET),
        (put(pitch=2.5), "shards", "outside", BETWEEN),
    ],
    "import_recordings": [
        (put(origin="robot"), SHARD, "origin", IN_SET),
        (put(spoken="something else"), SHARD, "caption, spoken", EQUAL),
        (part_audio, SHARD, "splits", BETWEEN),
        (put(seconds=0.0), SHARD, "seconds", BETWEEN),
    ],
    "evaluate_speech": [
        (put(verdict="silent"), SHARD, "verdict", IN_SET),
        (put(words=0), SHARD, "words", BETWEEN),
        (put(seconds=0.0), SHARD, "seconds", BETWEEN),
        (forget, SHARD, "lost", BETWEEN),
    ],
    "extract_features": [
        (put(words=[]), SHARD, "words_count", BETWEEN),
        (put(split="dev"), SHARD, "split", IN_SET),
        (put(media="features.npy"), SHARD, "media", REGEX),
        (put(centre="centre.npy"), SHARD, "centre", REGEX),
    ],
    "train_captioner": [
        (put(weights_sha256="0" * 64), SHARD, "weights_sha256, listed_sha256", EQUAL),
        (put(validation=float("inf")), SHARD, "validation", BETWEEN),
        (put(kind="dual_encoder"), SHARD, "kind", IN_SET),
    ],
    "evaluate_captioners": [
        (put(cider_d=-1.0), SHARD, "cider_d", BETWEEN),
        (put(references=[]), SHARD, "references_count", BETWEEN),
        (copy_key, SHARD, "key, test, model", COMPOUND),
    ],
    "pretrain_retrieval": [
        (put(weights_sha256="0" * 64), SHARD, "weights_sha256, listed_sha256", EQUAL),
        (put(validation=float("inf")), SHARD, "validation", BETWEEN),
        (put(kind="gpt"), SHARD, "kind", IN_SET),
    ],
    "finetune_retrieval": [
        (put(weights_sha256="0" * 64), SHARD, "weights_sha256, listed_sha256", EQUAL),
        (put(validation=float("inf")), SHARD, "validation", BETWEEN),
        (put(kind="captioner"), SHARD, "kind", IN_SET),
    ],
    "evaluate_retrieval": [
        (put(kind="captioner"), SHARD, "kind", IN_SET),
        (put(rank=0), SHARD, "rank", BETWEEN),
        (put(direction="text_to_image"), SHARD, "direction", IN_SET),
        (copy_key, SHARD, "key, direction, model, crop", COMPOUND),
    ],
    "import_ratings": [
        (put(rater="ann@example.org"), SHARD, "rater", REGEX),
        (put(rater="Ann Other"), SHARD, "rater", REGEX),
        (put(verdict="good"), SHARD, "verdict", IN_SET),
        (put(time="yesterday"), SHARD, "time", REGEX),
        (put(source="elsewhere"), SHARD, "source", IN_SET),
        (copy_key, "shards/00001.parquet", "key", UNIQUE),
    ],
    "evaluate_ratings": [
        (put(good=4), SHARD, "ratings, good", GREATER),
        (put(ratings=4), SHARD, "raters, ratings", GREATER),
        (put(ratings=0, good=0), SHARD, "ratings", BETWEEN),
        (put(uses=[]), SHARD, "uses_count", BETWEEN),
        (forget, SHARD, "lost", BETWEEN),
    ],
    "build_search_index": [
        (put(kind="text"), SHARD, "kind", IN_SET),
        (put(kind="image"), SHARD, "kind+origin", IN_SET),
        (put(splits=[]), SHARD, "splits_count", BETWEEN),
        (put(thumbnail="../x.jpg"), SHARD, "thumbnail", REGEX),
        (copy_key, SHARD, "key, kind", COMPOUND),
        (forget, SHARD, "lost", BETWEEN),
    ],
    "build_rating_items": [
        (copy_key, SHARD, "key", UNIQUE),
        (put(key="item 1"), SHARD, "key", REGEX),
        (put(crop="left"), SHARD, "crop", IN_SET),
        (put(caption=""), SHARD, "caption", LENGTH),
        (put(image="../x.jpg"), SHARD, "image", REGEX),
        (put(audio=""), SHARD, "audio+audio_sha256", REGEX),
        (put(raters=0), SHARD, "raters", BETWEEN),
        (put(uses=[]), SHARD, "uses_count", BETWEEN),
        (forget, SHARD, "lost", BETWEEN),
    ],
    "report": [
        (put(sha256="0" * 64), SHARD, "sha256, listed_sha256", EQUAL),
        (put(path="../figure"), SHARD, "path", REGEX),
        (put(title=""), SHARD, "title", LENGTH),
    ],
    "cluster": [
        (put(cluster=-2), SHARD, "cluster", BETWEEN),
        (put(x=float("nan")), SHARD, "x", "expect_column_values_to_not_be_null"),
        (copy_key, SHARD, "key", UNIQUE),
    ],
    "drift": [
        (put(value=1.5), SHARD, "value", BETWEEN),
        (put(low=0.5), SHARD, "high, low", GREATER),
        (put(group="colours"), SHARD, "group", IN_SET),
        (copy_key, SHARD, "key", UNIQUE),
    ],
    "posts_report": [
        (put(sha256="0" * 64), SHARD, "sha256, listed_sha256", EQUAL),
        (put(path="../figure"), SHARD, "path", REGEX),
        (copy_key, SHARD, "key", UNIQUE),
    ],
}  # fmt: skip
