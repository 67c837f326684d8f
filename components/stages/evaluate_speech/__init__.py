"""listen: what the voices sound like, and how well they are understood: a sample of each, by a recogniser and by ear.

In: UTTERANCE records, synthetic or human. A sample of each voice, drawn by key, is written down by a recogniser that has not
seen the captions; the word error rate tells a voice that cannot be understood, a wrong language, or sound that is not the
caption's. Conceptual Spoken Captions does not check its speech; this check is ours. Out: HEARD records, a page to listen to
(``listen.html``, with sound and pictures beside it), ``voices.json``, ``summary.txt``. The ledger has one row a record; one
none of whose utterances is in the sample ends here by ``not_drawn``, for this is a side branch. Without a recogniser the page
is made all the same, and says so.
Not in scope: dropping anything for how it sounds (``synthesize`` does, by what is measured), alignment in time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from components.core.params import Settings

if TYPE_CHECKING:
    from components.execution.stage import Stage
    from components.stages.evaluate_speech.sample import Drawn

PAGE, VOICES, SUMMARY = "listen.html", "voices.json", "summary.txt"
AT_A_TIME = 8
"""Recordings of one job: what a killed run hears again at most is what its workers had in hand."""


class Params(Settings):
    """What is listened to."""

    seed: int
    """Seed of the sample and of the bootstrap."""
    per_voice: int
    """Utterances of each voice in the sample; fewer where there are fewer."""
    min_words: int
    """Utterances with fewer words are drawn only where a voice has not enough others."""
    examples: int
    """Utterances of each voice on the page, the first of its sample: drawn, not chosen."""
    languages: list[str]
    """ISO 639-1: languages to recognise; utterances in others are drawn and played all the same. Empty: every language there is a
    recogniser for."""
    resamples: int
    """Bootstrap samples behind an interval."""


def run(stage: Stage) -> None:
    """Draw, hear, judge; write the records, the page and the tables."""
    from components.stages.evaluate_speech import facts as gathered
    from components.stages.evaluate_speech import page
    from components.stages.evaluate_speech.sample import COLUMNS, draw_sample

    check(stage)
    params: Params = stage.params
    source = stage.inputs["input"]
    table = source.table(list(COLUMNS))
    drawn = draw_sample(table, params.seed, params.per_voice, params.min_words)
    missing = _hear(stage, drawn)
    if missing:
        tell(f"{stage.dataset}/listen: {missing}")
    results = gathered.gather(stage.dataset, table, drawn, params, missing)
    examples = [each for voice in results.voices for each in voice.heard[: params.examples]]
    _draw(stage, examples)
    for each in examples:
        if each.sound:
            stage.write_file(each.sound, source.read_media(each.media))
    stage.write_file(PAGE, page.html(results, examples).encode())
    stage.write_file(VOICES, page.voices_json(results).encode())
    stage.write_file(SUMMARY, page.summary(results).encode())
    stage.export("voices.csv", page.voices_csv(results).encode())
    _write_records(stage, drawn)
    for name, value in gathered.metrics(results).items():
        stage.metric(name, value)


def check(stage: Stage) -> None:
    """Hold the settings to what can be done; raises HearsightError for the first that cannot."""
    from components.core.errors import HearsightError

    params, where = stage.params, f"params.yaml: {stage.dataset}.listen"
    for name, least in (("per_voice", 1), ("min_words", 0), ("examples", 0), ("resamples", 1)):
        if getattr(params, name) < least:
            raise HearsightError("cannot be used", where=f"{where}.{name}", hint=f"give {least} or more")


def tell(line: str) -> None:
    """One line for whoever started the run."""
    import sys

    print(f"hearsight: warning: {line}", file=sys.stderr, flush=True)


def _hear(stage: Stage, drawn: list[Drawn]) -> str:
    """Put what was heard into the sample; returns what to say of recognisers that are not there, empty for nothing."""
    import json

    from components.execution.stage import Job
    from components.speech.recognition.recognizer import INSTALL, installed, recogniser_for
    from components.stages.evaluate_speech.recognition import HEARD_FILE, hear_job

    wanted: dict[str, list[Drawn]] = {}
    lacking = set()
    for each in drawn:
        found = recogniser_for(each.language) if each.language in (stage.params.languages or [each.language]) else None
        if found is None:
            continue
        if installed(found):
            wanted.setdefault(each.language, []).append(each)
        else:
            lacking.add(found.name)
    jobs = [
        Job(
            f"{language}-{start:06d}",
            {"language": language, "items": [{"media": e.media, "audio_sha256": e.audio_sha256} for e in group]},
            content_addressed=True,
        )
        for language, all_of in sorted(wanted.items())
        for start in range(0, len(all_of), AT_A_TIME)
        for group in [all_of[start : start + AT_A_TIME]]
    ]
    heard: dict[tuple[str, str], dict[str, str]] = {}
    for job, folder in zip(jobs, stage.jobs(hear_job, jobs, step="hear", params={}), strict=True):
        for digest, answer in json.loads((folder / HEARD_FILE).read_text()).items():
            heard[job.spec["language"], digest] = answer
    for each in drawn:
        each.judge(heard.get((each.language, each.audio_sha256)))
    if not lacking:
        return ""
    again = f"then `dvc repro --force -s evaluate_speech@{stage.dataset}`"
    return f"no word error rates, since {' and '.join(sorted(lacking))} is not installed: run `{INSTALL}`, {again}"


def _draw(stage: Stage, examples: list[Drawn]) -> None:
    """Have the pictures of the page's examples drawn, and put them into the output."""
    from components.execution.stage import Job
    from components.stages.evaluate_speech.pictures import SPECTROGRAM_FILE, WAVEFORM_FILE, picture_job

    jobs = [Job(each.key, {"media": each.media, "audio_sha256": each.audio_sha256}, content_addressed=True) for each in examples]
    for each, folder in zip(examples, stage.jobs(picture_job, jobs, step="pictures", params={}), strict=True):
        if (folder / SPECTROGRAM_FILE).exists():
            each.sound, each.picture = f"audio/{each.key}.flac", f"pictures/{each.key}.png"
            each.waveform = (folder / WAVEFORM_FILE).read_text()
            stage.write_file(each.picture, folder / SPECTROGRAM_FILE)


def _write_records(stage: Stage, drawn: list[Drawn]) -> None:
    """One shard of the sample for each shard of the input, with a ledger row for each of its records."""
    import pyarrow as pa

    from components.core.ledger import dropped, kept, ledger_table
    from components.core.records import OUTPUT_SCHEMAS

    rows: dict[str, list[dict[str, Any]]] = {}
    for each in sorted(drawn, key=lambda each: each.key):
        rows.setdefault(each.record, []).append(each.row())
    for shard in stage.inputs["input"].shards:
        utterances: dict[str, int] = {}
        for record in shard.read(["record"])["record"].to_pylist():
            utterances[record] = utterances.get(record, 0) + 1
        ledger = [
            kept(record, detail=f"{len(rows[record])} of {number} utterances listened to")
            if record in rows
            else dropped(record, "not_drawn", f"{number} utterances", f"{stage.params.per_voice} a voice")
            for record, number in utterances.items()
        ]
        found = [row for record in utterances for row in rows.get(record, [])]
        stage.write_shard(
            shard.name, pa.Table.from_pylist(found, schema=OUTPUT_SCHEMAS["evaluate_speech"][1]), ledger_table(ledger)
        )
