"""Scores of a retrieval model."""

from __future__ import annotations

from typing import Any

WAYS = ("speech_to_image", "image_to_speech")


def scores() -> dict[str, Any]:
    """Scores of two rows, as ``evaluate_retrieval`` writes them."""
    depths = ("r_at_1", "r_at_10", "r_at_5", "r_at_50", "share_at_1")
    value = {"value": 0.25, "low": 0.125, "high": 0.5}
    rows = {row: {"centre": {way: dict.fromkeys(depths, value) for way in WAYS}} for row in ("mms-48", "triplet-48")}
    models = {f"{row}-{n}": {"centre": {way: dict.fromkeys(depths, n / 4) for way in WAYS}} for row in rows for n in (0, 2)}
    chance = {way: dict.fromkeys(depths, 0.05 * (n + 1)) for n, way in enumerate(WAYS)}
    return {"retrieval": {"crop": "centre", "main": "mms-48", "rows": rows, "models": models, "chance": chance}}


def captioner_scores() -> dict[str, Any]:
    """Scores of two captioners on two test splits, as ``evaluate_captioners`` writes them; one split has no constant caption."""
    value = {"cider_d": {"mean": 0.25, "low": 0.125, "high": 0.5}}
    return {
        "english": {"cells": {"english-rnn1x1": value, "cleaned-rnn1x1": value}, "constant": value},
        "portuguese": {"cells": {"english-rnn1x1": {"cider_d": {"mean": 0.0}}}},
    }
