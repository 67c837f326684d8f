"""What paid voices would take for what is wished for, without asking anything; the stage says what that is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from components.core.result_cache import ResultCache
from components.google.bill import CostLine
from components.google.client import GoogleClient
from components.google.responses import SERVICE_NAMES
from components.google.settings import google_params
from components.speech.voices.google_speech import GoogleSpeech, Wish, raw_key, unaskable

FEATURE = "speech_wavenet"


def bill(root: Path, wishes: Iterable[Wish]) -> CostLine:
    """Return the line of Google Text-to-Speech: each answer that the cache of ``root`` has not is asked for once.

    A wish beyond the service's limits is never asked, and counts as no item. No credentials are looked for.

    Raises:
        HearsightError: ``params.yaml:google`` does not fit, or the cache cannot be read.
    """
    settings = google_params(root)
    annotator = GoogleSpeech(GoogleClient(settings.asking))
    wanted = {raw_key(wish): wish for wish in wishes if not unaskable(wish)}
    found = ResultCache(root / ".hearsight" / "annotations").known(annotator, list(wanted))
    missing = [wish for key, wish in wanted.items() if key not in found]
    units = sum(annotator.units(annotator.item(wish))[FEATURE] for wish in missing)
    usd = units * settings.prices.plain()[FEATURE] / 1000
    return CostLine(SERVICE_NAMES[annotator.service], FEATURE, len(wanted), len(wanted) - len(missing), len(missing), units, usd)
