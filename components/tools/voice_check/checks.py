"""The checks of one voice, in order: each needs what the ones before it have found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from components.core.errors import HearsightError
from components.speech.audio.files import HIGHEST_RATE_HZ, LOWEST_RATE_HZ, Samples
from components.speech.recognition.recognizer import INSTALL, installed, recogniser_for
from components.speech.text_normalization import languages
from components.speech.voices.catalogue import VOICES, lack_of
from components.speech.voices.engines import ENGINES
from components.speech.voices.failures import EngineFailure
from components.speech.voices.hosts import supervisor
from components.speech.voices.speaking import speak_native
from components.speech.voices.voice import Voice
from components.stages.synthesize.paid_speech import LEVEL_DB
from components.stages.synthesize.prosody import Prosody
from components.stages.synthesize.speech import Clip, Speech, Unspoken, unpack
from components.tools.doctor.finding import OK, WARNING, Finding
from components.tools.voice_check.measurement import GAIN, level_wanted, recognise, speak_in_host

SENTENCES: dict[str, tuple[str, ...]] = {
    "en": (
        "a man rides a brown horse along the beach",
        "two dogs play in the snow near a wooden fence",
        "the view from the tower, with twelve boats in the harbour",
        "a young woman reads a newspaper in a small cafe",
        "children are flying kites on a windy afternoon",
        "an old bridge over the river at sunset",
        "the chef slices fresh vegetables in a bright kitchen",
        "a red bus stops in front of the museum",
        "people walk under umbrellas on a rainy street",
        "mountains and pine trees are reflected in the quiet lake",
    ),
    "pt": (
        "um homem anda a cavalo na praia",
        "dois cães brincam na neve perto de uma cerca",
        "a vista da torre com doze barcos no porto",
        "uma jovem lê o jornal em um pequeno café",
        "as crianças soltam pipas em uma tarde de vento",
        "uma ponte antiga sobre o rio ao pôr do sol",
        "o cozinheiro corta legumes frescos em uma cozinha clara",
        "um ônibus vermelho para na frente do museu",
        "pessoas caminham com guarda-chuvas em uma rua molhada",
        "as montanhas e os pinheiros se refletem no lago calmo",
    ),
    "fr": (
        "un homme monte un cheval brun sur la plage",
        "deux chiens jouent dans la neige près d'une barrière",
        "la vue de la tour, avec douze bateaux dans le port",
        "une jeune femme lit le journal dans un petit café",
        "des enfants jouent avec des cerfs-volants sur la colline",
        "un vieux pont sur la rivière au coucher du soleil",
        "le cuisinier coupe des légumes frais dans une cuisine claire",
        "un autobus rouge s'arrête devant le musée",
        "des gens marchent sous la pluie dans une rue étroite",
        "les montagnes et les sapins se reflètent dans le lac",
    ),
    "es": (
        "un hombre monta un caballo marrón en la playa",
        "dos perros juegan en la nieve cerca de una valla",
        "la vista de la torre con doce barcos en el puerto",
        "una mujer joven lee el periódico en un café pequeño",
        "los niños vuelan cometas en una tarde de viento",
        "un puente antiguo sobre el río al atardecer",
        "el cocinero corta verduras frescas en una cocina luminosa",
        "un autobús rojo se detiene delante del museo",
        "la gente camina bajo la lluvia en una calle estrecha",
        "las montañas y los pinos se reflejan en el lago tranquilo",
    ),
}
"""ISO 639-1 → sentences, as the text normalisation leaves them."""


FAILED = "failed"
"""State of a check, beside those of :mod:`components.tools.doctor.finding`: the voice must not be used like this."""
LEVEL_TOLERANCE_DB = 1.5
"""Largest difference from ``LEVEL_DB``: some three standard errors of the mean of ten sentences."""
SECONDS_PER_CHARACTER = (0.02, 0.25)
"""Bounds of the mean, as in ``expectations/synthesize.json``."""
MOST_WRONG_CHARACTERS = 0.65
"""Character error rate from which ``evaluate_speech`` warns."""
RECOGNISED = 5
"""Sentences that the recogniser hears, half a second of processor time each."""
REGISTRY = "ENGINES of components/speech/voices/engines.py"


def check_voice(name: str) -> Iterator[Finding]:
    """Yield one finding for each check.

    A check that cannot be made ends the list, and so does any failed one before the recogniser, which takes seconds.

    Raises:
        HearsightError: there is no such voice, or it is a paid one.
    """
    voice = VOICES.get(name)
    if voice is None:
        hint = f"take one of `hearsight voices`, or add the line of its engine to {REGISTRY}"
        raise HearsightError(f"'{name}' is not a voice", where="voices", hint=hint)
    if voice.paid:
        raise HearsightError(f"'{name}' is a paid voice, which only the stage uses", where="voices", hint="take another voice")
    for check in (_check_entry, _check_installed):
        finding = check(voice)
        yield finding
        if finding.state == FAILED:
            return
    failed = False
    try:
        for finding in _check_speech(voice):
            yield finding
            failed = failed or finding.state == FAILED
    except (EngineFailure, HearsightError) as error:
        yield Finding(FAILED, "speaks", str(error), f"correct `say` or `__init__` in {source_file(voice)}")
        return
    if failed:
        return
    yield _check_recognition(voice)


def source_file(voice: Voice) -> str:
    """Return the module of the voice's engine, relative to the root."""
    entry = ENGINES.get(voice.engine)
    return entry.load.__module__.replace(".", "/") + ".py" if entry else REGISTRY


def _check_entry(voice: Voice) -> Finding:
    """Check what the catalogue says of the voice."""
    entry = f"the entry of {voice.name}"
    entries = [each for engine in ENGINES.values() for each in engine.voices if each.name == voice.name]
    if len(entries) > 1:
        return Finding(FAILED, "entry", f"{len(entries)} voices have this name", f"rename one in {source_file(voice)}")
    if voice.engine not in ENGINES or voice not in ENGINES[voice.engine].voices:
        fix = f"give it the key under which its engine stands in {REGISTRY}"
        return Finding(FAILED, "entry", f"engine={voice.engine!r} is not its engine", fix)
    if voice.language not in languages():
        fix = "take one of these, or add its words as components/speech/text_normalization/english.py has them"
        return Finding(FAILED, "entry", f"language={voice.language!r} is none of {', '.join(languages())}", fix)
    if voice.sex not in ("F", "M", ""):
        return Finding(FAILED, "entry", f"sex={voice.sex!r}", f"write F, M or '' in {entry}")
    if re.search(r"\bA?GPL", voice.licence) and not voice.extra:
        return Finding(FAILED, "entry", f"{voice.licence} is not an extra", f"write extra=True in {entry}: it stays optional")
    return Finding(OK, "entry", f"{voice.language}, {voice.sex or 'no'} sex, {voice.licence}; cached by model {voice.model}")


def _check_installed(voice: Voice) -> Finding:
    lack = lack_of(voice)
    return Finding(FAILED, "installed", lack.why, lack.cure) if lack else Finding(OK, "installed", "yes")


def _check_speech(voice: Voice) -> Iterator[Finding]:
    """Speak the sentences with the engine and as the stage does."""
    texts = SENTENCES[voice.language]
    native = [speak_native(text, voice.name) for text in texts]
    yield (form := _check_format(native))
    if form.state == FAILED:
        return
    yield _check_repetition(voice, texts, native)
    clips = _clips_of_stage(voice, texts)
    if unheard := [text for text, clip in zip(texts, clips, strict=True) if clip is None]:
        yield Finding(FAILED, "silence", f"nothing is heard of '{unheard[0]}'", f"correct `say` in {source_file(voice)}")
        return
    heard = [clip for clip in clips if clip is not None]
    ends = max(max(clip.measures.lead, clip.measures.tail) for clip in heard)
    yield Finding(OK, "silence", f"every sentence is heard; at most {ends:.2f} s of silence at the ends after trimming")
    yield _check_duration([clip.measures.seconds for clip in heard], texts)
    hosted = speak_in_host(voice, texts)
    yield _check_level(voice, hosted.level)


def _check_format(native: list[tuple[Samples, int]]) -> Finding:
    """Check the samples as the engine returned them; the host has refused other types and several channels."""
    rates = sorted({rate for _, rate in native})
    peak = max(float(np.abs(samples).max(initial=0.0)) for samples, _ in native)
    full_scale = sum(int(np.count_nonzero(np.abs(samples) >= 32767 / 32768)) for samples, _ in native)
    if len(rates) > 1 or not LOWEST_RATE_HZ <= rates[0] <= HIGHEST_RATE_HZ:
        fix = f"return one rate from {LOWEST_RATE_HZ} to {HIGHEST_RATE_HZ} Hz"
        return Finding(FAILED, "format", f"rates of {', '.join(map(str, rates))} Hz", fix)
    if not all(np.isfinite(samples).all() for samples, _ in native):
        return Finding(FAILED, "format", "samples are NaN or infinite", "return finite samples")
    if full_scale:
        return Finding(FAILED, "format", f"{full_scale} samples at full scale or beyond", "lower the engine's volume: it clips")
    return Finding(OK, "format", f"mono, {rates[0]} Hz, largest sample {peak:.2f} of 1")


def _check_repetition(voice: Voice, texts: Sequence[str], native: list[tuple[Samples, int]]) -> Finding:
    """Speak the sentences again in a new host, the last one first; one that differs also first in two new hosts."""
    host = supervisor(voice.engine)
    host.close()
    again = {text: speak_native(text, voice.name)[0].tobytes() for text in reversed(texts)}
    differing = [text for text, (samples, _) in zip(texts, native, strict=True) if again[text] != samples.tobytes()]
    if not differing:
        return Finding(OK, "repetition", "equal texts give equal bytes, in any order and process")
    fresh = []
    for _ in range(2):
        host.close()
        fresh.append(speak_native(differing[0], voice.name)[0].tobytes())
    what = f"{len(differing)} of {len(texts)} sentences differ when spoken again"
    if fresh[0] != fresh[1]:
        return Finding(FAILED, "repetition", f"{what}, also first in a new process", "seed the engine's random numbers in `say`")
    return Finding(FAILED, "repetition", f"{what} in another order", "seed it in each `say`, or set keeps_state = True")


def _clips_of_stage(voice: Voice, texts: Sequence[str]) -> list[Clip | None]:
    """Return the clips that the stage would write at the largest gain that is drawn; None for a silent one."""
    speech = Speech(voice.name)
    try:
        return [unpack(speech.compute((text, Prosody(voice.name, 1.0, 0.0, GAIN)))) for text in texts]
    except Unspoken as unspoken:
        raise EngineFailure(voice.name, unspoken.reason) from None


def _check_duration(seconds: Sequence[float], texts: Sequence[str]) -> Finding:
    pace = sum(seconds) / sum(map(len, texts))
    low, high = SECONDS_PER_CHARACTER
    found = f"{pace:.3f} s a character ({min(seconds):.1f} to {max(seconds):.1f} s a sentence)"
    if low <= pace <= high:
        return Finding(OK, "duration", found)
    fix = "check the rate that `say` returns, and that it speaks the whole text"
    return Finding(FAILED, "duration", f"{found}, not {low} to {high}", fix)


def _check_level(voice: Voice, measured: float) -> Finding:
    wanted = level_wanted(voice, measured)
    found = f"{measured:.1f} dBFS with level={voice.level}"
    if abs(measured - LEVEL_DB) > LEVEL_TOLERANCE_DB:
        return Finding(FAILED, "level", f"{found}, not {LEVEL_DB:.0f}", f"write level={wanted} in {source_file(voice)}")
    return Finding(OK, "level", f"{found} ({LEVEL_DB:.0f} within {LEVEL_TOLERANCE_DB}; exact: level={wanted})")


def _check_recognition(voice: Voice) -> Finding:
    """Compare what a recogniser hears with the sentences."""
    recogniser = recogniser_for(voice.language)
    if recogniser is None or not installed(recogniser):
        return Finding(WARNING, "recognised", "no recogniser is installed, so nobody has listened", INSTALL)
    texts = SENTENCES[voice.language][:RECOGNISED]
    result = recognise(voice, texts, recogniser)
    rates = f"{result.word_error_rate:.0%} of words wrong, {result.character_error_rate:.0%} of characters"
    found = f"{rates}; '{texts[0]}' was heard as '{result.heard[0]}'"
    if result.character_error_rate > MOST_WRONG_CHARACTERS:
        return Finding(WARNING, "recognised", found, "listen to `hearsight say`: is it speech, in this language?")
    return Finding(OK, "recognised", found)
