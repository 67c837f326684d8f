"""Cost estimate of paid voices; sends no request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from components.core.addresses import state_folder
from components.core.result_cache import ResultCache
from components.google.client import GoogleClient
from components.google.cost import CostLine
from components.google.responses import SERVICE_NAMES
from components.google.settings import google_params
from components.speech.voices.google_speech import GoogleSpeech, SpeechRequest, answer_key, exceeded_limit

FEATURE = "speech_wavenet"


def estimate_cost(root: Path, requests: Iterable[SpeechRequest]) -> CostLine:
    """Return the estimate for Google Text-to-Speech: one request per answer that the cache of ``root`` lacks.

    A request beyond the service's limits is never sent and counts as no item. Credentials are not needed.

    Raises:
        HearsightError: ``params.yaml:google`` is invalid, or the cache cannot be read.
    """
    settings = google_params(root)
    annotator = GoogleSpeech(GoogleClient(settings.asking))
    by_key = {answer_key(request): request for request in requests if not exceeded_limit(request)}
    cached = ResultCache(state_folder(root) / "annotations").read_existing(annotator, list(by_key))
    missing = [request for key, request in by_key.items() if key not in cached]
    units = sum(annotator.units(annotator.item(request))[FEATURE] for request in missing)
    usd = units * settings.prices.plain()[FEATURE] / 1000
    return CostLine(SERVICE_NAMES[annotator.service], FEATURE, len(by_key), len(by_key) - len(missing), len(missing), units, usd)
