"""Checks of images: headers read from growing prefixes, statements about use, and complete small files."""

from __future__ import annotations

import base64

from tests.fuzz.checks.common import storable


def image_head(data: bytes) -> None:
    """Check that a result from a prefix is final, and that nothing beyond the prefix is read."""
    from components.web.image_precheck import check_prefix
    from components.web.images.head import read_head
    from components.web.images.jpeg_scans import extract_mean_scans
    from components.web.settings import FetchSettings

    limits = FetchSettings(max_image_bytes=1 << 20, min_side=100, max_aspect=5.0)
    decided, cuts = None, [*range(0, min(len(data), 32), 3), *range(32, len(data), 1 + len(data) // 16), len(data)]
    for cut in cuts:
        head = read_head(data[:cut])
        assert decided is None or head == decided, "more bytes change what was decided"
        decided = head
        check_prefix(data[:cut], limits, last=False)
    last = read_head(data, last=True)
    assert last is not None and (decided is None or last == decided)
    assert last.width >= 0 and last.height >= 0
    refusal = check_prefix(data, limits, last=True)
    assert refusal is not False
    storable(refusal)
    means = extract_mean_scans(data)
    assert means is None or means[:2] == data[:2]


def image_use(data: bytes) -> None:
    """Check that any file yields statements that the policy reads, or none."""
    from components.web.consent.image_metadata import read_image_statements
    from components.web.consent.policy import RULES, Policy

    statements = read_image_statements(data)
    storable(statements)
    refused = Policy().find_refusal(statements)
    storable(refused)
    assert refused is None or refused[0] in RULES


def image(data: bytes) -> None:
    """Check that any image is decoded or rejected by a rule, without an error."""
    from components.web.images.image import decode_image

    facts = decode_image(data)
    storable(facts)
    assert facts.bytes == len(data)
    if facts.reason:
        assert not facts.phash and not facts.thumbnail
    else:
        assert facts.width > 0 and facts.height > 0 and len(facts.phash) == 16
        assert base64.b64decode(facts.thumbnail, validate=True)[:2] == b"\xff\xd8"
