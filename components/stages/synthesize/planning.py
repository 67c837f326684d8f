"""Plans of utterances: the speakable text of each record, and the drawn prosody of each utterance.

It decides everything that is spoken without running an engine. Records without speakable text are dropped here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.record_fields import F64, I32, STR
from components.execution.shard_worker import ShardOut
from components.speech.text_normalization import NormalisedText, RejectedText, normalise_for_speech
from components.stages.synthesize.prosody import Prosody, draw_prosody, utterance_digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from components.execution.stage import Task

PLANNED = pa.schema(
    [
        *((name, STR) for name in ("key", "record", "caption", "language", "spoken", "split", "group")),
        *((name, STR) for name in ("image_sha256", "image_media", "voice")),
        *((name, F64) for name in ("rate", "pitch", "gain")),
        pa.field("number", I32),
        pa.field("digest", STR, metadata={"unit": "the content key of the sound"}),
        pa.field("failed", STR, metadata={"unit": "hang, crash or error of the engine; empty before it was asked"}),
    ]
)
COPIED = ("caption", "language", "split", "group", "image_sha256")


def plan_utterances(
    records: Iterable[Mapping[str, Any]], voices: Mapping[str, Collection[str]], params: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], NormalisedText | RejectedText | None, list[Prosody]]]:
    """Yield each SPLIT record, its speakable text, and the prosody of each of its utterances.

    Args:
        voices: language → the voices to draw from.
        params: the stage's ``seed``, ``utterances``, ``max_characters``, ``rate_sd``, ``pitch_sd`` and ``gain_sd``.

    Yields:
        None as text if no voice speaks the record's language; no prosodies without speakable text.
    """
    seed, spread = params["seed"], {name: params[name] for name in ("rate_sd", "pitch_sd", "gain_sd")}
    for record in records:
        key, names = record["key"], list(voices.get(record["language"], ()))
        text = None
        if names:
            text = normalise_for_speech(record["caption"], record["language"], max_characters=params["max_characters"])
        numbers = range(params["utterances"] if isinstance(text, NormalisedText) else 0)
        yield record, text, [draw_prosody(seed, key, number, voices=names, **spread) for number in numbers]


def plan_shard(table: pa.Table, task: Task) -> ShardOut:
    """Convert SPLIT records to planned utterances, with one ledger row a record.

    ``task.shared["voices"]`` holds language → voice → model; a record whose language has none is dropped by ``no_voice``, one
    whose caption is not speakable by the rule that ``normalise_for_speech`` names.
    """
    voices = task.shared["voices"]
    rows: list[dict[str, Any]] = []
    ledger: list[dict[str, str]] = []
    for record, text, prosodies in plan_utterances(table.to_pylist(), voices, task.params):
        key = record["key"]
        if text is None:
            ledger.append(dropped(key, "no_voice", record["language"], sorted(voices)))
            continue
        if isinstance(text, RejectedText):
            ledger.append(dropped(key, text.rule, text.value, text.threshold))
            continue
        ledger.append(kept(key))
        common = {name: record[name] for name in COPIED}
        common |= {"record": key, "spoken": text.text, "image_media": record["media"], "failed": ""}
        for number, prosody in enumerate(prosodies):
            digest = utterance_digest(text.text, prosody)
            rows.append(common | vars(prosody) | {"key": f"{key}.{number}", "number": number, "digest": digest})
    return ShardOut(pa.Table.from_pylist(rows, schema=PLANNED), ledger_table(ledger))
