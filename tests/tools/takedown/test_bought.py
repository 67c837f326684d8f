"""What a paid voice answered for a removed caption is found among the annotations, and nothing else is."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.records import UTTERANCE
from components.core.result_cache import ResultCache
from components.google.client import GoogleClient
from components.google.settings import RequestSettings
from components.speech.voices.google_speech import GoogleSpeech, answer_key
from components.speech.voices.paid import cache_keys, speech_request
from components.tools.takedown.caches import delete_annotations, find_annotations
from components.tools.takedown.evidence import Content, collect_content
from components.tools.takedown.file_search import FileSearch, Matcher
from components.web.takedown_list import read_takedown
from tests.support import row

MANNER = {"rate": 1.0735, "pitch": -0.9114, "gain": 3.1001}
SPEECH = GoogleSpeech(GoogleClient(RequestSettings(at_once=1, timeout=1.0, retries=0, backoff=0.0)))


def utterance(record: str, spoken: str, voice: str) -> dict[str, object]:
    return row("synthesize", key=f"{record}.0", record=record, spoken=spoken, voice=voice, audio_sha256=record, **MANNER)


@pytest.mark.parametrize("shaped_there", [False, True])
def test_paid_speech_of_a_removed_caption_is_deleted_and_other_speech_kept(tmp_path: Path, shaped_there: bool) -> None:
    rows = [
        utterance("gone", "a dog", "google-wavenet-a"),
        utterance("kept", "a cat", "google-wavenet-a"),
        utterance("free", "a dog", "hibari-heart"),
    ]
    buffer = io.BytesIO()
    # As a shard has them: in single precision.
    pq.write_table(pa.Table.from_pylist(rows, schema=UTTERANCE), buffer)
    bought = {
        name: answer_key(speech_request(text, "google-wavenet-a", **MANNER, shaped_there=shaped_there))
        for name, text in (("gone", "a dog"), ("kept", "a cat"))
    }
    ResultCache(tmp_path / "annotations").write(SPEECH, {key: name.encode() for name, key in bought.items()})
    (tmp_path / "takedown.jsonl").write_text("")
    matcher = Matcher(read_takedown(tmp_path / "takedown.jsonl"))
    removed = collect_content([lambda: io.BytesIO(buffer.getvalue())], matcher, Content(keys={"gone", "free"}))
    assert bought["gone"] in removed.digests and bought["kept"] not in removed.digests
    search = FileSearch(Matcher(read_takedown(tmp_path / "takedown.jsonl"), digests=removed.digests))
    ((path, keys),) = find_annotations(tmp_path, search)
    assert keys == [bought["gone"]]
    delete_annotations(path, keys)
    assert list(ResultCache(tmp_path / "annotations").read(SPEECH, list(bought.values())).values()) == [b"kept"]


def test_an_answer_used_by_another_current_record_is_kept() -> None:
    removed, current = Content(), Content()
    for content in (removed, current):
        content.add_rows([utterance("any", "a dog", "google-wavenet-a")])
    assert len(removed.bought) == 2
    removed -= current
    assert removed.bought == set()


def test_free_voices_human_speech_and_older_shards_have_no_paid_answers() -> None:
    assert cache_keys(utterance("r", "a dog", "hibari-heart")) == set() == cache_keys({"key": "k", "voice": "google-wavenet-a"})
    assert cache_keys({**utterance("r", "un chien", "speaker 3"), "rate": None}) == set()
