"""The voices themselves, with the real engines."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.params import parse_settings, read_params_file
from components.speech.audio.measures import measure
from components.speech.voices import engine_espeak, hosts, libraries
from components.speech.voices.catalogue import VOICES, installed, split_installed, voice_named
from components.speech.voices.engines import ENGINES
from components.speech.voices.failures import EngineFailure
from components.speech.voices.speaking import speak
from components.stages import synthesize
from tests.support import PROJECT

SAID = {
    "en": [
        "a man rides a brown horse along the beach",
        "two dogs play in the snow",
        "the view from the tower, with twelve boats",
    ],
    "pt": ["um homem anda a cavalo na praia", "dois cães brincam na neve", "a vista da torre com doze barcos"],
    "fr": ["un homme à cheval sur la plage", "deux chiens jouent dans la neige", "la vue de la tour, avec douze bateaux"],
    "es": ["un hombre a caballo en la playa", "dos perros juegan en la nieve", "la vista de la torre con doce barcos"],
}
HERE = {name: voice for name, voice in VOICES.items() if not voice.paid and (voice.engine != "kokoro" or installed(voice))}
"""Those that speak on this machine; the paid ones have ``tests/speech/voices/test_google_voices.py``. Kokoro is not set up."""
SPEAKERS = [pytest.param(name, marks=[pytest.mark.slow] if name == "piper-joe" else []) for name in sorted(HERE)]
"""Loading piper-joe's network takes seconds."""
QUICK = set({voice.engine: voice.name for voice in HERE.values() if voice.name != "piper-joe"}.values())
ONE_OF_EACH_ENGINE = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in sorted(HERE)]
"""`make test-long` starts a process for one voice of each engine, `make test-all` for every voice."""
AMERICAN = [v for v in HERE.values() if v.language == "en" and v.name not in ("espeak-en-us", "nanotts-en-gb")]


def digest(text: str, voice: str) -> str:
    return hashlib.sha256(speak(text, voice).tobytes()).hexdigest()


@pytest.mark.long
@pytest.mark.parametrize("voice", ONE_OF_EACH_ENGINE)
def test_equal_texts_give_equal_bytes_in_any_order_and_process(voice):
    texts = SAID[VOICES[voice].language]
    forward = [digest(text, voice) for text in texts]
    backward = [digest(text, voice) for text in reversed(texts)]
    assert forward == backward[::-1] and len(set(forward)) == len(texts)
    hosts.close_all()
    program = (
        "import sys, json, hashlib\nfrom components.speech.voices.speaking import speak\n"
        f"print(json.dumps([hashlib.sha256(speak(t, {voice!r}).tobytes()).hexdigest() for t in json.loads(sys.argv[1])]))"
    )
    other = subprocess.run(
        [sys.executable, "-c", program, json.dumps(texts[1:])], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert json.loads(other.stdout) == forward[1:]


@pytest.mark.long
@pytest.mark.parametrize("voice", SPEAKERS)
def test_every_voice_has_equal_loudness_and_headroom_for_the_gain(voice):
    result = [measure(speak(text, voice)) for text in SAID[VOICES[voice].language]]
    assert abs(np.mean([each.level for each in result]) + 26.0) < 2.5
    assert max(each.peak for each in result) + 4.0 < 0.0
    assert all(1.0 < each.seconds < 6.0 for each in result)


def test_noise_is_a_table_restarted_for_each_run_and_repeated_in_long_ones():
    import onnxruntime

    from components.speech.voices import onnx_noise
    from components.speech.voices.onnx_noise import COLUMNS, replace_noise

    def written(field: int, wire: int, value: bytes | int) -> bytes:
        """A field of a protocol buffer, of less than 128 bytes."""
        return bytes([field << 3 | wire]) + (bytes([value]) if isinstance(value, int) else bytes([len(value)]) + value)

    def named(name: bytes) -> bytes:
        shape = b"".join(written(1, 2, written(2, 2, axis)) for axis in (b"b", b"c", b"t"))
        return written(1, 2, name) + written(2, 2, written(1, 2, written(1, 0, 1) + written(2, 2, shape)))

    node = onnx_noise._node("RandomNormalLike", ["x"], "y").SerializeToString()
    graph = written(1, 2, node) + written(2, 2, b"g") + written(11, 2, named(b"x")) + written(12, 2, named(b"y"))
    model = written(1, 0, 8) + written(7, 2, graph) + written(8, 2, written(2, 0, 15))

    def noise(session: onnxruntime.InferenceSession, frames: int) -> np.ndarray:
        return session.run(None, {"x": np.zeros((1, 3, frames), np.float32)})[0]

    drawn, fixed = (onnxruntime.InferenceSession(each) for each in (model, replace_noise(model, {"y/fixed": 3})))
    assert (noise(drawn, 50) != noise(drawn, 50)).all()
    long = noise(fixed, 2 * COLUMNS + 7)
    np.testing.assert_array_equal(noise(fixed, 50), long[:, :, :50])
    np.testing.assert_array_equal(long[:, :, COLUMNS : 2 * COLUMNS], long[:, :, :COLUMNS])
    assert abs(long[:, :, :COLUMNS].mean()) < 0.03 and abs(long[:, :, :COLUMNS].std() - 1) < 0.03
    for channels in ({}, {"other": 3}, {"y/fixed": 3, "other": 2}):
        with pytest.raises(ValueError, match="draws noise at"):
            replace_noise(model, channels)
    for broken in (model[:-1], b"\x3a\xff", b"\xff"):
        with pytest.raises(ValueError, match="not a protocol buffer"):
            replace_noise(broken, {"y/fixed": 3})


@pytest.mark.long
def test_no_two_voices_are_the_same():
    for language, texts in SAID.items():
        voices = [voice.name for voice in HERE.values() if voice.language == language]
        assert len({digest(texts[0], voice) for voice in voices}) == len(voices)


@pytest.mark.long
def test_programs_under_the_gpl_are_never_loaded_here():
    program = (
        "import sys\nfrom pathlib import Path\nfrom components.speech.voices.speaking import speak\n"
        "from components.speech.voices.catalogue import VOICES, installed\n"
        "for voice in VOICES.values(): assert voice.paid or voice.engine == 'kokoro' or installed(voice), voice\n"
        "for voice in ('piper-joe', 'espeak-fr', 'flite-slt'): speak('one two', voice)\n"
        "maps = Path('/proc/self/maps').read_text()\n"
        "assert 'soxr' in maps, 'this shows what is loaded'\n"
        "print([name for name in ('espeak', 'piper', 'flite', 'onnxruntime') if name in maps or name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_gpl_engines_are_loaded_in_a_host_process():
    speak("un", "espeak-fr")
    pid = hosts.supervisor("espeak").host.pid
    assert pid != os.getpid() and "espeakbridge" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.long
@pytest.mark.parametrize("voice", ["flite-slt", "flite-kal16", "nanotts-fr-fr", "espeak-fr", "hibari-heart", "piper-joe"])
def test_texts_without_words_are_silent_or_spoken_and_the_voice_continues(voice):
    for text in ("", " ", "\n", "...", "\0", "北京", "\ud800", "<usesig file='/etc/passwd'>", "[[", "a"):
        try:
            assert len(speak(text, voice)) > 0
        except EngineFailure as failure:
            assert failure.voice == voice and failure.reason in ("silent", "error"), failure
    assert measure(speak("two dogs", voice)).seconds > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("voice", ["flite-slt", "flite-kal16", "nanotts-es-es", "espeak-es"])
def test_five_thousand_characters_are_spoken_to_the_end(voice):
    line = SAID[VOICES[voice].language][0] + ". "
    one, text = len(speak(line, voice)), line * (5000 // len(line))
    assert len(speak(text, voice)) > 0.7 * one * (5000 // len(line))


@given(text=st.text(max_size=60), voice=st.sampled_from(["flite-kal16", "nanotts-en-us", "espeak-en-us"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_ends_the_synthesis_process(text, voice):
    try:
        samples = speak(text, voice)
    except EngineFailure:
        return
    assert samples.dtype == np.float32 and np.isfinite(samples).all()


def test_a_failure_of_an_engine_has_the_voice_and_the_reason(monkeypatch):
    odd = replace(VOICES["flite-slt"], name="odd", engine="tests.speech.voices.odd_engines:Obedient")
    keeper = hosts.HostSupervisor(odd.engine, seconds=4.0, seconds_per_character=0.0, give_up=6)
    monkeypatch.setitem(VOICES, "odd", odd)
    monkeypatch.setitem(hosts._supervisors, odd.engine, keeper)
    cases = {"segfault": "crash", "raise": "error", "silent": "silent", "nothing": "silent"}
    for text, reason in cases.items():
        with pytest.raises(EngineFailure) as caught:
            speak(text, "odd")
        assert (caught.value.voice, caught.value.reason) == ("odd", reason)
    for _ in range(5):
        with pytest.raises(EngineFailure):
            speak("raise", "odd")
    with pytest.raises(HearsightError, match=r"failed 6 texts in a row.*hearsight data --voices"):
        speak("raise", "odd")
    keeper.close()


def test_an_engine_that_cannot_start_gives_an_error_with_the_voice_and_a_hint(monkeypatch):
    odd = replace(VOICES["piper-joe"], name="odd", engine="tests.speech.voices.odd_engines:Broken")
    monkeypatch.setitem(VOICES, "odd", odd)
    with pytest.raises(HearsightError, match=r"voice odd.*libvoice\.so\.7.*pip install piper-tts==1\.8\.0"):
        speak("one", "odd")
    assert issubclass(HearsightError, Exception) and not issubclass(EngineFailure, HearsightError)


def test_at_least_six_american_voices_of_both_sexes_and_five_without_extras():
    sexes = [voice.sex for voice in AMERICAN]
    assert sexes.count("F") >= 3 and sexes.count("M") >= 3
    free = [voice for voice in AMERICAN if not voice.extra]
    assert len(free) >= 5 and {voice.sex for voice in free} >= {"F", "M"}
    assert {v.language for v in VOICES.values()} >= {"en", "pt", "fr", "es"}
    for voice in HERE.values():
        assert voice.extra == ("GPL" in voice.licence), "what is under the GPL is an extra"


def test_a_missing_optional_extra_is_skipped_and_a_required_one_is_an_error_with_its_command(monkeypatch, tmp_path):
    monkeypatch.setattr(libraries, "_roots", lambda: [tmp_path])
    monkeypatch.setattr(libraries, "SYSTEM", (str(tmp_path),))
    monkeypatch.setitem(ENGINES, "piper", ENGINES["piper"]._replace(is_installed=lambda: False))
    monkeypatch.setitem(ENGINES, "espeak", ENGINES["espeak"]._replace(is_installed=lambda: False))
    names = ["hibari-heart", "piper-joe", "espeak-fr"]
    there, absent = split_installed(names)
    assert [voice.name for voice in there] == ["hibari-heart"]
    assert [voice.name for voice in absent] == ["piper-joe", "espeak-fr"]
    with pytest.raises(HearsightError, match=r"'flite-rms' is not installed.*hearsight data --voices"):
        split_installed([*names, "flite-rms"])


def test_installed_checks_each_library(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "_roots", lambda: [tmp_path])
    monkeypatch.setattr(libraries, "SYSTEM", (str(tmp_path),))
    names = ["libflite.so.2.2", *(f"libflite_cmu_us_{name}.so.2.2" for name in ("slt", "rms", "kal16"))]
    for package, name in (*(("libflite1", name) for name in names), ("libasound2", "libasound.so.2")):
        assert not installed(VOICES["flite-slt"])
        folder = tmp_path / "data/packages/unpacked" / package / "usr/lib/any-arch"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert installed(VOICES["flite-slt"])


def test_espeak_is_available_when_the_wheel_has_library_and_data(tmp_path, monkeypatch):
    home = tmp_path / "piper"
    home.mkdir()
    monkeypatch.setattr(engine_espeak, "find_spec", lambda name: None)
    assert not installed(VOICES["espeak-fr"])
    spec = ModuleSpec("piper", None, is_package=True)
    spec.submodule_search_locations = [str(home)]
    monkeypatch.setattr(engine_espeak, "find_spec", lambda name: spec)
    assert not installed(VOICES["espeak-fr"])
    (home / "espeakbridge.so").touch()
    assert not installed(VOICES["espeak-fr"])
    (home / "espeak-ng-data").mkdir()
    assert installed(VOICES["espeak-fr"])


def test_every_language_of_a_list_in_the_project_has_a_voice_that_is_no_extra():
    listed = read_params_file(PROJECT / "params.yaml")
    del listed["chain"]
    stages = [dataset["synthesize"] for dataset in listed.values() if isinstance(dataset, dict) and "synthesize" in dataset]
    lists = [parse_settings(synthesize.Params, stage, "here").voices for stage in stages]
    assert len(lists) >= 2
    for names in lists:
        languages = {VOICES[name].language for name in names if not VOICES[name].slow}
        assert languages == {VOICES[name].language for name in names if not VOICES[name].extra}


def test_an_unknown_voice_is_refused_with_the_available_ones():
    for ask in (lambda: speak("one", "alto"), lambda: split_installed(["alto"]), lambda: voice_named("alto")):
        with pytest.raises(HearsightError, match=r"'alto' is not a voice.*flite-kal16"):
            ask()
