"""A captioner moves between projects as one file, whole or not at all, and nothing in the file is trusted."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.model_files import CONFIG, WEIGHTS
from components.models.trained_captioner import ImageCaptioner, save_trained
from components.models.vocabulary import SPECIAL
from components.tools import model_archive
from components.tools.describe.describer import Describer
from components.tools.describe.models import CARD, IMPORTED
from components.tools.describe.writers import SURE_BY_LIKELIHOOD
from components.tools.model_archive import UNSTATED, export_model, import_model
from tests.support import PROJECT
from tests.support.command import hearsight
from tests.support.describe.world import drawn_image

NAME = "english-t2t8x8"


@pytest.fixture(scope="session")
def archive(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("archive") / "squares.zip"
    export_model(project, NAME, file, licence="CC0-1.0")
    return file


def empty_project(root: Path) -> Path:
    """A project without a model and without datasets."""
    root.mkdir(exist_ok=True)
    shutil.copy(PROJECT / "dvc.yaml", root / "dvc.yaml")
    (root / "params.yaml").write_text(yaml.safe_dump({"chain": {}}))
    return root


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return empty_project(tmp_path / "other")


def members(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_equal_models_give_equal_bytes_also_after_an_import(project: Path, archive: Path, other: Path, tmp_path: Path) -> None:
    again, moved = tmp_path / "again.zip", tmp_path / "moved.zip"
    export_model(project, f"{NAME}-captioner", again, licence="CC0-1.0")
    import_model(other, archive, name="squares")
    export_model(other, "squares", moved)
    assert archive.read_bytes() == again.read_bytes() == moved.read_bytes()


def test_the_card_says_what_the_model_is_and_what_nobody_has_stated(project: Path, archive: Path, tmp_path: Path) -> None:
    card = json.loads(members(archive)[CARD])
    assert (card["name"], card["language"], card["licence_of_data"]) == (NAME, "en", "CC0-1.0")
    assert card["encoder"]["name"] == "efficientnet_lite0" and card["trained_on"]["dataset"] == "english"
    assert export_model(project, NAME, tmp_path / "file")["licence_of_data"] == UNSTATED


def test_the_commands_name_an_unstated_licence_and_what_to_run(project: Path, other: Path, tmp_path: Path) -> None:
    done = hearsight("models", "export", NAME, "model.zip", "--outputs", cwd=tmp_path, HEARSIGHT_ROOT=str(project))
    assert (done.returncode, json.loads(done.stdout)["model"]) == (0, NAME) and b"--licence" in done.stderr
    words = ["models", "import", "model.zip", "--name", "squares"]
    done = hearsight(*words, cwd=tmp_path, HEARSIGHT_ROOT=str(other))
    assert done.returncode == 0 and json.loads(done.stdout)["use"] == "hearsight describe IMAGE --model squares"
    done = hearsight(*words, cwd=tmp_path, HEARSIGHT_ROOT=str(other))
    assert done.returncode == 2 and b"is there already" in done.stderr and done.stderr.count(b"\n") == 1


def test_an_imported_model_describes_by_name_and_by_default(project: Path, archive: Path, other: Path) -> None:
    import_model(other, archive, name="squares")
    data = drawn_image("red")
    there = Describer.open(project, "en", model=NAME).describe(data)
    for model in ("squares", ""):
        here = Describer.open(other, "en", model=model).describe(data)
        assert (here.caption, here.model) == (there.caption, "squares") and here.version.startswith("imported ")
        assert here.evidence.support is None and here.confidence == there.evidence.likelihood
        assert here.sure == (here.confidence >= SURE_BY_LIKELIHOOD)
    with pytest.raises(HearsightError, match="--language en"):
        Describer.open(other, "pt", model="squares")


def test_names_are_free_in_the_project_and_lead_out_of_no_folder(project: Path, archive: Path, other: Path) -> None:
    import_model(other, archive)
    for root, name, message in [
        (other, "", "is there already"), (other, "../out", "is no name"), (other, "/tmp/x", "is no name"),
        (project, "", "something else"), (other, "server", "something else"),
    ]:  # fmt: skip
        with pytest.raises(HearsightError, match=message):
            import_model(root, archive, name=name)
    assert [path.name for path in other.rglob("*") if path.is_dir()] == [IMPORTED, NAME]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    """An archive of an untrained captioner, and an empty project."""
    root = tmp_path_factory.mktemp("small")
    vocabulary = [*SPECIAL, "a", "square"]
    config = CaptionerConfig("rnn1x1", len(vocabulary), image_features=4, width=4, heads=1, layers=1, feedforward=4, longest=3)
    encoder = {"name": "efficientnet_lite0", "side": 96, "trained": False}
    model = ImageCaptioner(build(config))
    save_trained(root, model.state_dict(), vocabulary, {"network": config.plain(), "encoder": encoder})
    files = {name: (root / name).read_bytes() for name in (CONFIG, WEIGHTS)}
    card = {"format": 1, "kind": "captioner", "name": "small", "language": "en", "encoder": encoder}
    card |= {"files": {name: sha256_bytes(data) for name, data in files.items()}}
    return model_archive._pack(files | {CARD: json.dumps(card).encode()}), empty_project(root / "project")


def require_refused(data: bytes, project: Path, message: str = "no model that can be imported") -> None:
    """Require one clear line, and no trace of the model."""
    file = project.parent / "damaged.zip"
    file.write_bytes(data)
    with pytest.raises(HearsightError, match=message) as caught:
        import_model(project, file)
    assert len(str(caught.value).splitlines()) == 1 and str(file) in str(caught.value)
    assert not list((project / IMPORTED).glob("*")) and not list((project / IMPORTED).glob(".*"))


def test_an_undamaged_file_is_imported(small: tuple[bytes, Path]) -> None:
    data, project = small
    (project.parent / "whole.zip").write_bytes(data)
    import_model(project, project.parent / "whole.zip")
    shutil.rmtree(project / IMPORTED)


@given(st.data())
def test_a_damaged_file_is_refused(small: tuple[bytes, Path], drawn: st.DataObject) -> None:
    data, project = small
    place = drawn.draw(st.integers(0, len(data) - 1))
    change = drawn.draw(st.sampled_from(["flip", "cut", "insert", "remove"]))
    damaged = bytearray(data)
    if change == "flip":
        damaged[place] ^= 1 << drawn.draw(st.integers(0, 7))
    elif change == "cut":
        del damaged[place:]
    elif change == "insert":
        damaged[place:place] = drawn.draw(st.binary(min_size=1, max_size=9))
    else:
        del damaged[place : place + drawn.draw(st.integers(1, 9))]
    if damaged != data:
        require_refused(bytes(damaged), project)


def rewritten(data: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """The archive with other content, whose card fits it: not damaged, but made to deceive."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    change(files)
    card = json.loads(files[CARD]) | {"encoder": json.loads(files[CONFIG])["encoder"]}
    card |= {"files": {name: sha256_bytes(files[name]) for name in (CONFIG, WEIGHTS)}}
    return model_archive._pack(files | {CARD: json.dumps(card).encode()})


@pytest.mark.parametrize(
    "change",
    [
        {"width": 10**9}, {"layers": 10**9}, {"longest": 10**9}, {"network": "os.system"}, {"network": "t2t8x8", "heads": 0},
        {"vocabulary": 3}, {"width": "4"}, {"more": 1},
    ],
)  # fmt: skip
def test_a_configuration_of_another_network_is_refused_without_its_memory(
    small: tuple[bytes, Path], change: dict[str, object]
) -> None:
    def change_network(files: dict[str, bytes]) -> None:
        config = json.loads(files[CONFIG])
        config["network"] |= change
        files[CONFIG] = json.dumps(config).encode()

    require_refused(rewritten(small[0], change_network), small[1])


def test_pickles_other_members_links_and_compression_are_refused(small: tuple[bytes, Path], tmp_path: Path) -> None:
    data, project = small
    pickled = io.BytesIO()
    torch.save({"network.x": torch.zeros(1)}, pickled)
    for weights in (pickled.getvalue(), save({"network.x": torch.zeros(1)}), b""):
        require_refused(rewritten(data, partial(dict.update, **{WEIGHTS: weights})), project)
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    link = zipfile.ZipInfo(WEIGHTS)
    link.create_system, link.external_attr = 3, 0o120777 << 16
    stored = zipfile.ZIP_STORED
    odd: list[tuple[list[str | zipfile.ZipInfo], int]] = [
        ([*files, "../../out"], stored), ([CARD, CONFIG, "/etc/passwd"], stored), ([CARD, CONFIG, link], stored),
        (list(files), zipfile.ZIP_DEFLATED), ([CONFIG, CARD, WEIGHTS], stored),
    ]  # fmt: skip
    for names, kind in odd:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", kind) as packed:
            for name in names:
                packed.writestr(name, files.get(name if isinstance(name, str) else name.filename, b"x"))
        require_refused(made.getvalue(), project)
    require_refused(b"", project)
    require_refused(b"\x80\x04not a zip", project)


def test_a_file_that_is_too_large_is_not_read(small: tuple[bytes, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_archive, "LARGEST", len(small[0]) - 1)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("was read"))
    require_refused(small[0], small[1], "no file of at most")


def test_an_encoder_without_packaged_weights_is_named_at_the_import(small: tuple[bytes, Path], tmp_path: Path) -> None:
    data, project = small
    encoder = tmp_path / "weights.pth"
    encoder.write_bytes(b"weights of an encoder")

    def change(files: dict[str, bytes]) -> None:
        about = {
            "name": "inception_resnet_v2",
            "side": 299,
            "trained": False,
            "weights_sha256": sha256_bytes(encoder.read_bytes()),
        }
        files[CONFIG] = json.dumps(json.loads(files[CONFIG]) | {"encoder": about}).encode()

    file = tmp_path / "model.zip"
    file.write_bytes(rewritten(data, change))
    with pytest.raises(HearsightError, match=r"inception_resnet_v2.*--encoder FILE"):
        import_model(project, file)
    (tmp_path / "other.pth").write_bytes(b"others")
    with pytest.raises(HearsightError, match="not the file of inception_resnet_v2"):
        import_model(project, file, encoder=tmp_path / "other.pth")
    import_model(project, file, encoder=encoder)
    assert (project / IMPORTED / "small" / "encoder.pth").read_bytes() == encoder.read_bytes()
    shutil.rmtree(project / IMPORTED)


def test_an_import_that_is_killed_leaves_no_model(archive: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = os.fork()
    if not child:
        monkeypatch.setattr(model_archive, "_require_captioner", lambda folder: os.kill(os.getpid(), signal.SIGKILL))
        import_model(other, archive, name="squares")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with pytest.raises(HearsightError, match="no captioner was trained"):
        Describer.open(other, "en")
    import_model(other, archive, name="squares")
    assert Describer.open(other, "en").found.name == "squares"
