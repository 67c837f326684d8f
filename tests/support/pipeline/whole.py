"""The whole chain, small, over the fixture web."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.support import THOROUGH
from tests.support.crawl.crawls import fixture_params as crawl_params
from tests.support.crawl.fixture_web import build_fixture_web
from tests.support.pipeline.harness import sample_params

PAGES = 30


def small_params() -> dict[str, Any]:
    """The sample's parameters on the fixture web, with little speech and little training."""
    params = sample_params()
    params["engine"]["workers"] = 2
    english = params["english"]
    english["crawl"] = crawl_params(shard_size=20).plain()
    english["hypernymize"]["min_concept_count"] = 1
    # Two voices that load in an instant; the chain is the same with all six.
    english["synthesize"].update(utterances=1, voices=["nanotts-en-us", "flite-kal16"])
    english["extract_features"].update(views=1)
    english["extract_features"]["encoder"].update(side=128)
    english["pretrain_retrieval"].update(seeds=[0])
    english["pretrain_retrieval"]["towers"].update(embedding=16, channels=16)
    english["pretrain_retrieval"]["model"]["clips"] = {"frames": 100}
    english["evaluate_retrieval"].update(resamples=20)
    # Enough epochs that a kill, a slow test, finds the run inside one: each takes a moment.
    english["pretrain_retrieval"]["model"]["optimisation"]["epochs"] = 60 if THOROUGH else 2
    return params


def add_web(root: Path) -> None:
    """The fixture web inside a project, its captions naming what the label classifier sees in such drawings."""
    build_fixture_web(root / "web", pages=PAGES, seed=0)
    for page in (root / "web").rglob("*.html"):
        page.write_text(re.sub(r'alt="([^"]+)"', r'alt="\1 on an envelope"', page.read_text()))
