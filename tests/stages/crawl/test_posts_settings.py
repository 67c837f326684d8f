"""Invalid settings of ``crawl.posts`` are one-line errors; those of params.yaml are valid and can be advanced by a day."""

from __future__ import annotations

import shutil
from datetime import date

import pytest
import yaml

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.stages.crawl import Params
from components.stages.crawl.settings import sound
from components.tools.snapshots.next_snapshot import next_snapshot
from tests.stages.crawl.conftest import fixture_params, posts_params
from tests.support import PROJECT

P = "http://127.0.0.1:1"
GRAPH = {"provider": "instagram", "user": "17", "token_variable": "T", "server": "https://graph.facebook.com/v23.0"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tag": "#pracegover"}, "posts.tag: '#pracegover' is not a hashtag"),
        ({"variants": ["pra ver"]}, "posts.tag: 'pra ver' is not a hashtag"),
        ({"server": "social.sample"}, "posts.server: 'social.sample' is not the address"),
        ({"server": "https://x.org/?access_token=abc"}, "posts.server"),
        ({"server": "https://name:pass@x.org"}, "posts.server"),
        ({"window_days": -1.0}, "posts.window_days: is not between 0 and 100000"),
        ({"window_days": 1e6}, "posts.window_days: is not between 0 and 100000"),
        ({"relist_days": -1.0}, "posts.relist_days: is not between 0 and 100000"),
        ({"page_size": 0}, "posts.page_size"),
        ({"inputs": ["x"]}, "inputs: is set"),
        ({"seeds": ["http://x/"]}, "seeds: is set"),
        ({"layout": "cc3m"}, "layout: is set"),
        ({"user": "17"}, "posts.user: is set"),
        ({**GRAPH, "user": "museu"}, "posts.user: names no Instagram account"),
        ({**GRAPH, "token_variable": ""}, "posts.token_variable: is empty"),
        ({**GRAPH, "local": True}, "posts.local: is set"),
        ({"proxy": "", "token_variable": "T"}, "would send the token unencrypted"),
        ({"provider": "jsonl"}, "inputs: is empty"),
        ({"provider": "jsonl", "inputs": ["x"]}, "posts.server: is set"),
        ({"provider": "jsonl", "inputs": ["x"], "server": "", "base": "day-1"}, "base: is set"),
        ({"posts": None}, "posts: is missing"),
        ({"source": "site", "seeds": ["http://x/"], "hosts": ["x"]}, "posts: is set"),
    ],
)
def test_invalid_settings_are_one_line_errors(changes, message):
    proxy = changes.pop("proxy", P)
    with pytest.raises(HearsightError) as error:
        sound(posts_params(proxy, **changes))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_other_sources_need_no_posts_block():
    assert sound(fixture_params()).posts is None
    assert sound(posts_params(P, **GRAPH)).posts is not None


def test_a_misspelt_setting_is_named():
    block = posts_params(P).plain()
    block["posts"]["tags"] = []
    with pytest.raises(HearsightError, match=r"posts\.tags: is not a setting"):
        parse_settings(Params, block, "params.yaml: portuguese.crawl")


def test_the_posts_dataset_of_the_project_is_valid_and_can_be_advanced_by_a_day(tmp_path):
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(PROJECT / name, tmp_path / name)
    block = yaml.safe_load((tmp_path / "params.yaml").read_text())["portuguese"]["crawl"]
    assert sound(Params.model_validate(block)).posts.tag == "pracegover"
    folder = tmp_path / "data/store/posts-sample-1"
    folder.mkdir(parents=True)
    (folder / "COMPLETE").write_text("{}")
    moved = next_snapshot(tmp_path, "portuguese", date(2026, 11, 22))
    assert moved["moved"] and moved["base"] == "posts-sample-1" and moved["snapshot"] == "posts-sample-1-2026-11-22"
    again = yaml.safe_load((tmp_path / "params.yaml").read_text())["portuguese"]["crawl"]
    assert sound(Params.model_validate(again)).base == "posts-sample-1" and again["posts"] == block["posts"]
