"""``dvc exp run -S`` changes the setting that it names and nothing else."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.hydra import apply_overrides
from dvc.utils.serialize import load_yaml

from components.core.params import read_yaml
from tests.support import PROJECT

FILES = sorted(["params.yaml", *(f"datasets/{path.name}" for path in (PROJECT / "datasets").glob("*.yaml"))])
# The next test sets every text and number.
CASES = [
    ("datasets/english.yaml", "filter.formats=[JPEG]", ["JPEG"]),
    ("datasets/english.yaml", "crawl.snapshot=2026-01-01", "2026-01-01"),
    ("datasets/english.yaml", "crawl.base=''", ""),
    ("datasets/english.yaml", "crawl.source.sitemaps=true", True),
    ("datasets/english.yaml", "train_captioner.training.seeds=[0,1,2]", [0, 1, 2]),
    ("datasets/english.yaml", "+train_captioner.networks.t2t8x8.learning_rate=1e-05", 1e-05),
    ("datasets/stamps.yaml", "crawl.source.languages=[no,'on']", ["no", "on"]),
    ("datasets/captioners.yaml", "networks=[rnn1x1,aoanet]", ["rnn1x1", "aoanet"]),
    ("params.yaml", "schedules.daily.cron='30 4 * * *'", "30 4 * * *"),
]


def leaves(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


@pytest.mark.parametrize(("file", "override", "value"), CASES, ids=lambda case: str(case)[:60])
def test_one_setting_is_changed_and_all_others_stay(tmp_path: Path, file: str, override: str, value: Any) -> None:
    path = Path(shutil.copy(PROJECT / file, tmp_path))
    name = override.lstrip("+").partition("=")[0]
    expected = dict(leaves(read_yaml(path))) | {name: value}
    apply_overrides(path, [override])
    assert dict(leaves(read_yaml(path))) == expected
    assert load_yaml(path) == read_yaml(path), "DVC reads the file as the stages do"


@pytest.mark.parametrize("file", FILES)
def test_every_setting_of_a_file_can_be_set(tmp_path: Path, file: str) -> None:
    path = Path(shutil.copy(PROJECT / file, tmp_path))
    before = dict(leaves(read_yaml(path)))
    changed = {name: f"{value}x" for name, value in before.items() if isinstance(value, str)}
    changed |= {name: value + 1 for name, value in before.items() if isinstance(value, int | float)}
    apply_overrides(
        path, [f"{name}='{value}'" if isinstance(value, str) else f"{name}={value}" for name, value in changed.items()]
    )
    assert dict(leaves(read_yaml(path))) == before | changed
    apply_overrides(
        path, [f"{name}='{before[name]}'" if isinstance(before[name], str) else f"{name}={before[name]}" for name in changed]
    )
    assert load_yaml(path) == read_yaml(path) == read_yaml(PROJECT / file), "DVC reads the file as the stages do"


@pytest.mark.parametrize("file", FILES)
def test_setting_a_value_leaves_all_other_lines_as_they_are(tmp_path: Path, file: str) -> None:
    path = Path(shutil.copy(PROJECT / file, tmp_path))
    apply_overrides(path, ["+added=1"])
    text = re.sub(r": \n +(?=\S{60})", ": ", path.read_text())  # DVC breaks a line before a long path
    assert text == (PROJECT / file).read_text() + "added: 1\n"


@pytest.mark.parametrize("file", FILES)
def test_no_file_of_settings_shares_values_by_anchors(file: str) -> None:
    import yaml

    assert not [
        token for token in yaml.scan((PROJECT / file).read_text()) if isinstance(token, yaml.AnchorToken | yaml.AliasToken)
    ]
