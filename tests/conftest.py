"""Settings of every test."""

from __future__ import annotations

from hypothesis import settings

# No test is about time: a machine that does other work as well must not fail one.
settings.register_profile("hearsight", deadline=None)
settings.load_profile("hearsight")
