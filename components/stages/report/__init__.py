"""Report on a run: the funnel with the paper's pass rates, caption statistics, scores, examples of dropped records per rule,
examples of rewritten captions, and figures.

Everything comes from the manifests, ledgers and scores of earlier stages. Not in scope: comparison of experiments (MLflow UI).
"""

from __future__ import annotations

from components.core.params import Settings


class Params(Settings):
    """Settings of report."""

    examples: int = 10
    """Dropped records listed for each rule. Ours."""
