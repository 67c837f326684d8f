"""Names and addresses of a stated licence, as metadata and data hubs write them."""

from __future__ import annotations

import re

_CREATIVE_COMMONS = re.compile(r"cc[- ]?(by(?:[- ](?:nc|nd|sa))*)[- ]v?(\d\.\d)", re.I)
_ZERO = re.compile(r"cc[- ]?0(?:[- ]1\.0)?|cc[- ]zero", re.I)
_SPDX = {"apache-2.0": "Apache-2.0", "mit": "MIT", "odbl-1.0": "ODbL-1.0", "gfdl": "GFDL-1.3-or-later", "gpl-3.0": "GPL-3.0-only"}
"""Hub's name → SPDX identifier of further licences that data have."""


def hub_licence(stated: str) -> dict[str, str]:
    """Return the ``license`` entries of a card: a hub's identifier, ``other`` with the stated name, or ``unknown`` for ''."""
    if not stated:
        return {"license": "unknown"}
    if name := _hub_name(stated):
        return {"license": name}
    return {"license": "other", "license_name": stated}


def licence_address(stated: str) -> str:
    """Return the web address of a licence; '' if it is not known."""
    if stated.lower().startswith(("http://", "https://")):
        return stated
    name = _hub_name(stated)
    if name == "cc0-1.0":
        return "https://creativecommons.org/publicdomain/zero/1.0/"
    if name.startswith("cc-"):
        kind, _, version = name.removeprefix("cc-").rpartition("-")
        return f"https://creativecommons.org/licenses/{kind}/{version}/"
    return f"https://spdx.org/licenses/{_SPDX[name]}.html" if name else ""


def _hub_name(stated: str) -> str:
    if match := _CREATIVE_COMMONS.fullmatch(stated):
        return f"cc-{match[1]}-{match[2]}".lower().replace(" ", "-")
    if _ZERO.fullmatch(stated):
        return "cc0-1.0"
    names = {spelling.lower(): name for name, spdx in _SPDX.items() for spelling in (name, spdx)}
    return names.get(stated.lower(), "")
