"""Invalid settings of a source of posts are one-line errors; those of params.yaml are valid and can be advanced by a day."""

from __future__ import annotations

from datetime import date

import pytest

from components.core.errors import HearsightError
from components.core.params import check_settings, parse_settings, read_params_file
from components.stages.crawl import Params
from components.tools.snapshots import next_snapshot
from tests.support.crawl.crawls import fixture_params, posts_block, posts_params
from tests.support.settings_files import copy_settings

P = "http://127.0.0.1:1"
GRAPH = {"provider": "instagram", "user": "17", "token_variable": "T", "server": "https://graph.facebook.com/v23.0"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tag": "#pracegover"}, "source.tag: '#pracegover' is not a hashtag"),
        ({"variants": ["pra ver"]}, "source.tag: 'pra ver' is not a hashtag"),
        ({"server": "social.sample"}, "source.server: 'social.sample' is not the address"),
        ({"server": "https://x.org/?access_token=abc"}, "source.server"),
        ({"server": "https://name:pass@x.org"}, "source.server"),  # pragma: allowlist secret
        ({"window_days": -1.0}, "source.window_days: -1.0 is too small"),
        ({"window_days": 1e6}, "source.window_days: 1000000.0 is too large"),
        ({"relist_days": -1.0}, "source.relist_days: -1.0 is too small"),
        ({"page_size": 0}, "source.page_size"),
        ({"max_pages": -1}, "source.max_pages: -1 is too small"),
        ({"inputs": ["x"]}, "source.inputs: is not a setting of kind: posts, provider: mastodon"),
        (
            {"seeds": ["http://x/"]},
            "source.seeds: is not a setting of kind: posts, provider: mastodon — remove it; it belongs to kind: site",
        ),
        ({"layout": "cc3m"}, "source.layout: is not a setting of kind: posts"),
        ({"user": "17"}, "source.user: is not a setting of kind: posts, provider: mastodon"),
        ({**GRAPH, "user": "museu"}, "source.user: names no Instagram account"),
        ({**GRAPH, "token_variable": ""}, "source.token_variable: is empty"),
        ({**GRAPH, "local": True}, "source.local: is not a setting of kind: posts, provider: instagram"),
        ({"provider": "mastodn"}, "source.provider: 'mastodn' is not known — did you mean 'mastodon'?"),
        ({"provider": None}, "source.provider: is missing — give one of: mastodon, instagram, jsonl"),
        ({"source": "sites"}, "source.kind: 'sites' is not known — did you mean 'site'?"),
        ({"proxy": "", "token_variable": "T"}, "would send the token unencrypted"),
        ({"provider": "jsonl"}, "source.inputs: is empty"),
        ({"provider": "jsonl", "inputs": ["x"], "server": "https://x.org"}, "source.server: is not a setting"),
        ({"provider": "jsonl", "inputs": ["x"], "base": "day-1"}, "base: is set"),
        ({"source": "site", "seeds": ["http://x/"], "hosts": ["x"]}, "source.window_days: is not a setting of kind: site"),
    ],
)
def test_invalid_settings_are_one_line_errors(changes, message):
    proxy = changes.pop("proxy", P)
    with pytest.raises(HearsightError) as error:
        block = posts_block(proxy, **changes)
        if changes.get("provider", "") is None:
            del block["source"]["provider"]
        parse_settings(Params, block, "params.yaml: portuguese.crawl")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_settings_of_each_provider_are_accepted():
    for params in (fixture_params(), posts_params(P, **GRAPH)):
        check_settings(params, "params.yaml: portuguese.crawl")


def test_a_misspelt_setting_is_named():
    block = posts_params(P).plain()
    block["source"]["tags"] = []
    with pytest.raises(HearsightError, match=r"source\.tags: is not a setting — did you mean 'tag'"):
        parse_settings(Params, block, "params.yaml: portuguese.crawl")


def test_the_posts_dataset_of_the_project_is_valid_and_can_be_advanced_by_a_day(tmp_path):
    copy_settings(tmp_path)
    block = read_params_file(tmp_path / "params.yaml")["portuguese"]["crawl"]
    assert parse_settings(Params, block, "here").source.tag == "pracegover"
    folder = tmp_path / "data/store/posts-sample-1"
    folder.mkdir(parents=True)
    (folder / "COMPLETE").write_text("{}")
    moved = next_snapshot(tmp_path, "portuguese", date(2026, 11, 22))
    assert moved["moved"] and moved["base"] == "posts-sample-1" and moved["snapshot"] == "posts-sample-1-2026-11-22"
    again = read_params_file(tmp_path / "params.yaml")["portuguese"]["crawl"]
    assert parse_settings(Params, again, "here").base == "posts-sample-1" and again["source"] == block["source"]
