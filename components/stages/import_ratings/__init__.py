"""import_ratings: the canonical table of human ratings, from the files of ``ratings/<dataset>``.

Input: ``input``, the RATING_ITEM records of ``build_rating_items``, and every file of ``ratings/<dataset>``: CSV, JSON of Label
Studio, recognised by content. Output: RATING records, one of each item by each rater; those by models have the source ``model``.
Ratings that others replace, of unknown items, and skipped ones are ledger rows. Raters are pseudonyms: a file that seems to name
people is refused (``hearsight ratings import`` replaces the names). Not in scope: which ratings count (``evaluate_ratings``).
"""

from __future__ import annotations

from components.core.params import Settings


class Params(Settings):
    """Settings of import_ratings: there are none, since all that a file says is kept."""
