"""The engine that docs/providers.md shows as an example works as it stands."""

from __future__ import annotations

import re
import types

import numpy as np

from components.speech.voices.voice import EngineEntry
from tests.support import PROJECT


def test_the_documented_example_of_an_engine_speaks() -> None:
    (source,) = re.findall(r"```python\n(.*?)```", (PROJECT / "docs/providers.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    module = types.ModuleType("engine_toneword")
    exec(source, module.__dict__)
    entry: EngineEntry = module.ENGINE
    engine = entry.load()
    samples, rate = engine.say("two words", entry.voices[0].speaker)
    assert engine.keeps_state is False and (len(samples), rate) == (6_400, 16_000) and 0.2 < np.abs(samples).max() <= 1
