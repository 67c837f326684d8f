"""A changed file changes the keys of exactly the steps that can reach it."""

from __future__ import annotations

import fnmatch
import importlib
import shutil
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from components.core.code_digest import EXCLUDED, Code, code_digest
from components.core.graph import load_graph
from tests.core.code_reach import WORKER, Compiled, modules, steps
from tests.support import PROJECT

OUTSIDE = {
    "flows/*": "starts commands and servers; computes no record",
    "components/app/*": "serves pages; computes no record",
    "components/cli/*": "commands",
    "components/ratings/assignment.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/campaigns.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/database.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/export.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/faults.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/sqlite_file.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/running.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/revocation.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/store.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/ratings/summaries.py": "the store of a running rating; its export is a file, which a stage reads",
    "components/tracking/*": "records and reads what has finished; no record depends on it",
    "components/tools/cache/*": "a command that removes damaged results",
    "components/tools/calibrate/data/*": "the page of a command, written anew each time",
    "components/tools/calibrate/page.py": "the page of a command, written anew each time",
    "components/tools/calibrate/run.py": "a command, whose step is in values.py",
    "components/tools/calibrate/sweep.py": "a command's counts, made anew each time",
    "components/tools/cost/*": "a command that estimates",
    "components/tools/datasets/*": "commands that write and list settings",
    "components/tools/demo/*": "a command that runs dvc and prints",
    "components/tools/describe/*": "a command that describes pictures; no record depends on it",
    "components/tools/doctor/*": "a command that looks at the machine",
    "components/tools/feedback/*": "a command that judges one text and keeps nothing",
    "components/tools/profiles/*": "a command that writes settings",
    "components/tools/rating_files/*": "commands that copy ratings of other tools and write tasks for them",
    "components/tools/release/*": "a command that writes a release anew each time",
    "components/tools/score/*": "a command that scores files",
    "components/tools/search/*": "opens an index for a command and the application; no record depends on it",
    "components/tools/status/*": "commands that read logs and compare digests",
    "components/tools/snapshots/*": "commands that name the next snapshot, and ask again for what failed",
    "components/tools/storage/*": "commands that move and delete objects of a bucket",
    "components/core/home.py": "names a home and a cache for libraries; computes no record",
    "components/core/streams.py": "opens and flushes a command's standard streams",
    "components/execution/shipping.py": "moves items to other nodes; verified by digest",
    "components/tools/takedown/*": "a command that erases; it computes no record",
    "components/tools/voice_check/*": "a command that checks a voice and keeps nothing",
    "components/tools/trial/*": "a command that tries a rule on one text and keeps nothing",
    "components/stages/check/*": "a DVC stage of its own that keeps nothing in the shard cache",
    "components/execution/background.py": "starts the background processes of checks and tracking",
    "components/execution/warm_*.py": "the background process of checks",
    "components/execution/ray_*.py": "starts tasks on a cluster; no engine changes what a step computes",
    "components/execution/input_watch.py": "ends a stage whose inputs changed; computes no record",
    "components/execution/output_lineage.py": "names parents, parameters and code of an output; computes no record",
    "components/execution/runner.py": "starts a stage; what it hands over is in the key",
    "components/core/private.py": "writes keys and tokens; computes no record",
    "components/core/gates.py": "says whether a stage may run",
    "components/sample/packages.py": "fetches the sample's packages, which are checked by digest",
    "components/metrics/coco.py": "a command that scores files",
    "components/google/cost.py": "a command that estimates",
    "components/retrieval/search_model.py": "loads a published index for MLflow",
    "components/vision/captioning.py": "describes single files for a command and for MLflow; the stage has its own batches",
    "components/speech/voices/bill.py": "a command that estimates",
    "components/knowledge/wikidata/build.py": "builds the dictionary, a file known by its digest",
    "components/knowledge/wikidata/dump.py": "builds the dictionary, a file known by its digest",
}
"""Files that neither a step nor a stage reaches, each with the reason."""


def rule_for(name: str) -> str | None:
    """The entry of OUTSIDE that a file falls under."""
    return next((pattern for pattern in OUTSIDE if fnmatch.fnmatchcase(name, pattern)), None)


class Changed(Code):
    """The project with one file changed in memory; notes which files a digest was made from."""

    def __init__(self, base: Code, changed: str | None = None) -> None:
        super().__init__(base.root, lambda path: path.read_bytes() + added(path.name))
        self.asked: set[str] = set()
        for listing in ("listing", "module_file", "module_files", "parent_inits", "adjacent_data", "nested_data"):
            setattr(self, listing, getattr(base, listing))
        for reading in ("facts", "content", "references"):
            setattr(self, reading, partial(self._noted, changed, getattr(self, reading), getattr(base, reading)))

    def _noted(self, changed: str | None, anew: Callable[[str], Any], before: Callable[[str], Any], file: str) -> Any:
        self.asked.add(file)
        return (anew if file == changed else before)(file)


def added(name: str) -> bytes:
    """A statement, or a row of data."""
    return b"\nADDED_BY_A_TEST = 1\n" if name.endswith(".py") else b"\nadded by a test\n"


def roots() -> dict[str, tuple[str, ...]]:
    """What has a key → the modules it is made from: every step, and every stage (its lineage)."""
    result = {module: (module, WORKER) for module in steps(PROJECT).values()}
    return result | {f"stage {stage}": (f"components.stages.{stage}",) for stage in load_graph(PROJECT).stages}


def project_files() -> list[str]:
    """Every file of the code, compiled ones aside."""
    result = (path for top in ("components", "flows") for path in (PROJECT / top).rglob("*"))
    kept = (path for path in result if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so")
    return sorted(path.relative_to(PROJECT).as_posix() for path in kept)


def test_a_changed_file_changes_exactly_the_keys_that_can_reach_it():
    base, oracle, keys = Code(PROJECT), Compiled(PROJECT), roots()
    wanted = {key: {path.relative_to(PROJECT).as_posix() for path in oracle.reach(*names)} for key, names in keys.items()}
    moved: dict[str, set[str]] = {file: set() for file in project_files()}
    for key, names in keys.items():
        plain = Changed(base)
        before = plain.digest(*names)
        for file in plain.asked:  # a digest cannot depend on a file that it was not made from
            if Changed(base, file).digest(*names) != before:
                moved[file].add(key)
    unreached = set()
    for name, changed in moved.items():
        expected = {key for key, reach in wanted.items() if name in reach}
        if name in EXCLUDED:
            assert not changed
            assert expected, f"{name} is plumbing that nothing reaches: remove it from the list"
        elif expected or changed:
            assert changed == expected, name
            assert rule_for(name) is None, f"{name} is reached: remove it from OUTSIDE"
        else:
            unreached.add(name)
    for name in sorted(unreached):
        assert rule_for(name), f"no step and no stage reaches {name}: say why in OUTSIDE, or remove the file"
    assert {rule_for(name) for name in unreached} == set(OUTSIDE), "an entry of OUTSIDE matches no file"
    assert set(EXCLUDED) <= set(moved)


def ours() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] in ("components", "flows")]


def loaded_by(module: str) -> list[str]:
    """What of ours a process loads that imports this module; in a fork, where other packages stay loaded."""
    for name in ours():
        del sys.modules[name]
    importlib.import_module(module)
    return ours()


def test_every_module_that_python_imports_is_reached():
    wanted = sorted(set(steps(PROJECT).values()))
    for module in wanted:
        importlib.import_module(module)
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        results = dict(zip(wanted, pool.map(loaded_by, wanted, chunksize=1), strict=True))
    code = Code(PROJECT)
    files = {name: path.relative_to(PROJECT).as_posix() for name, path in modules(PROJECT).items()}
    for module, loaded in results.items():
        reached = code.reached(module)[0]
        missing = {name for name in loaded if name in files and files[name] not in reached}
        assert not missing, f"{module} imports {sorted(missing)}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(PROJECT / "components", root / "components", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return root


EDITS = [
    ("speech/text_normalization/spanish.py", "components.stages.synthesize.planning", "components.stages.hypernymize"),
    ("knowledge/data/brands.tsv", "components.stages.hypernymize", "components.retrieval.jobs"),
    ("core/caption_normalization.py", "components.retrieval.jobs", "components.stages.synthesize.planning"),
    ("core/caption_normalization.py", "components.stages.evaluate_retrieval.scoring", "components.stages.synthesize.planning"),
    ("models/captioners/aoanet.py", "components.stages.train_captioner.jobs", "components.stages.synthesize.planning"),
    ("execution/shard_worker.py", "components.stages.dedup.pictures", ""),
]


@pytest.mark.parametrize("edited, step, other", EDITS)
def test_an_edit_changes_the_key_of_its_step_only(copy, edited, step, other):
    path = copy / "components" / edited
    before = {name: code_digest(copy, name, WORKER) for name in (step, other) if name}
    content = path.read_bytes()
    path.write_bytes(content + added(edited))
    try:
        assert code_digest(copy, step, WORKER) != before[step]
        assert not other or code_digest(copy, other, WORKER) == before[other]
    finally:
        path.write_bytes(content)
    assert code_digest(copy, step, WORKER) == before[step]
