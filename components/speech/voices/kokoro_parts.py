"""Kokoro's files: where they are, and their digests. ``kokoro_download`` fetches them."""

from __future__ import annotations

from pathlib import Path

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.speech.voices.libraries import fetched

FOLDER = Path("data/packages/kokoro")
"""Under the project's root."""
MODEL = "model.onnx"
FETCH = "hearsight data --kokoro"
DIGESTS = {
    MODEL: "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
    "pf_dora.bin": "3da7b5b2d91847ebf5646f57631af6ececae3c29a89cd300f06edf9aa6cfe9ee",
    "pm_alex.bin": "0175c753f59c54e7fd5a995bedef0c5ff2fb67e0043dd3dcb2ae74ec2acbeb2a",
    "ef_dora.bin": "f66ec66bd295acb18372e37008533a9a3228483ccd294e7538d5d9294ac9a532",
    "em_alex.bin": "27809e9eafdcbcfff90a3016c697568676531de2a2c39cee29c96c7bd6b83e95",
    "ff_siwis.bin": "a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861",
}
"""File → sha256. The model is that of release ``model-files-v1.0`` of kokoro-onnx (int8), a ``.bin`` the style of a speaker."""


def find_parts() -> Path | None:
    """Return the folder that has every file, or None; reads none of them."""
    return next((home for home in fetched(FOLDER) if all((home / name).is_file() for name in DIGESTS)), None)


def check_parts(folder: Path) -> None:
    """Raise HearsightError when a file is not the pinned one."""
    for name, digest in DIGESTS.items():
        if sha256_file(folder / name) != digest:
            raise HearsightError("is damaged", where=str(folder / name), hint=f"delete it and run `{FETCH}`")
