"""What is to be said: each record's text made speakable, and the manner of each of its utterances drawn.

Cheap, and all that decides what is spoken: no engine is asked here. Records with nothing to say stop here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from components.core.records import F64, I32, STR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from components.execution.stage import ShardOut, Task
    from components.speech.text_normalization import NormalisedText, RejectedText
    from components.stages.synthesize.prosody import Prosody

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
"""An utterance to be spoken."""
COPIED = ("caption", "language", "split", "group", "image_sha256")


def plans(
    records: Iterable[Mapping[str, Any]], voices: Mapping[str, Collection[str]], params: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, Any], NormalisedText | RejectedText | None, list[Prosody]]]:
    """Each SPLIT record, what is said of its caption, and the manner of each of its utterances.

    Args:
        voices: language → the voices that are drawn from.
        params: the stage's ``seed``, ``utterances``, ``max_characters``, ``rate_sd``, ``pitch_sd`` and ``gain_sd``.

    Yields:
        None in the place of what is said where no voice speaks the record's language; no manners where nothing is said.
    """
    from components.speech.text_normalization import NormalisedText, normalise_for_speech
    from components.stages.synthesize.prosody import manner_of

    seed, spread = params["seed"], {name: params[name] for name in ("rate_sd", "pitch_sd", "gain_sd")}
    for record in records:
        key, names = record["key"], list(voices.get(record["language"], ()))
        said = (
            normalise_for_speech(record["caption"], record["language"], max_characters=params["max_characters"])
            if names
            else None
        )
        numbers = range(params["utterances"] if isinstance(said, NormalisedText) else 0)
        yield record, said, [manner_of(seed, key, number, voices=names, **spread) for number in numbers]


def plan_shard(table: pa.Table, task: Task) -> ShardOut:
    """SPLIT records → planned utterances, and a ledger row a record.

    ``task.shared["voices"]`` holds language → voice → model; a record whose language has none is dropped by
    ``no_voice``, one whose caption cannot be said by the rule that ``normalise_for_speech`` names.
    """
    from components.core.ledger import dropped, kept, ledger_table
    from components.execution.shard_worker import ShardOut
    from components.speech.text_normalization import RejectedText
    from components.stages.synthesize.prosody import utterance_digest

    voices = task.shared["voices"]
    rows: list[dict[str, Any]] = []
    ledger: list[dict[str, str]] = []
    for record, said, manners in plans(table.to_pylist(), voices, task.params):
        key = record["key"]
        if said is None:
            ledger.append(dropped(key, "no_voice", record["language"], sorted(voices)))
            continue
        if isinstance(said, RejectedText):
            ledger.append(dropped(key, said.rule, said.value, said.threshold))
            continue
        ledger.append(kept(key))
        common = {name: record[name] for name in COPIED} | {
            "record": key,
            "spoken": said.text,
            "image_media": record["media"],
            "failed": "",
        }
        for number, manner in enumerate(manners):
            digest = utterance_digest(said.text, manner)
            rows.append(common | vars(manner) | {"key": f"{key}.{number}", "number": number, "digest": digest})
    return ShardOut(pa.Table.from_pylist(rows, schema=PLANNED), ledger_table(ledger))
