"""Named entities of a text by a token-classification model of a hub, and the kinds that its labels mean.

A word has the label of its first token, as such models are trained (Devlin et al. 2019, §5.3).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.hub.chosen import ChosenModel
from components.hub.loading import load_model, load_part

PLACES = frozenset({"GPE", "LOC", "FAC"})
OTHERS = frozenset({"NORP", "EVENT", "WORK_OF_ART", "PRODUCT", "LAW"})
KINDS = {
    **dict.fromkeys(("PER", "PERSON"), frozenset({"PERSON"})),
    **dict.fromkeys(("ORG", "ORGANIZATION"), frozenset({"ORG"})),
    **dict.fromkeys(("LOCATION", *PLACES), PLACES),
    **{kind: frozenset({kind}) for kind in OTHERS},
    "MISC": OTHERS,
}
"""Label of CoNLL or OntoNotes → the OntoNotes types of names that it may mean; places are not told apart."""

Named = tuple[int, int, str, float]
"""Characters ``start`` to ``end`` (exclusive), the label without a prefix such as ``B-``, and its probability."""


class NamedEntities:
    """Annotator: text → its names as :data:`Named`, in order."""

    name = "names.hub"
    version = 1
    codec = "json"

    def __init__(self, project: Path, chosen: ChosenModel) -> None:
        self.project, self.chosen, self.model = project, chosen, chosen.identity

    def compute(self, payload: str) -> list[Named]:
        """Return the names of one text; raise HearsightError if the model cannot be used."""
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[str]) -> list[list[Named]]:
        """Return the names of each text, in batches as the settings say; raises as :meth:`compute`."""
        import torch  # here: slow to load

        torch.set_num_threads(1)
        with warnings.catch_warnings():
            # Where a tokenizer does not mark the pieces of words, spaces do, and transformers says so.
            warnings.simplefilter("ignore", UserWarning)
            found = _loaded(self.project, self.chosen)(list(payloads), batch_size=self.chosen.batch)
        return [
            [
                (each["start"], each["end"], each["entity_group"].rpartition("-")[2], round(float(each["score"]), 4))
                for each in names
            ]
            for names in found
        ]


@lru_cache(maxsize=1)
def _loaded(project: Path, chosen: ChosenModel) -> Any:
    # Imported on use: an optional extra, slow to load.
    from transformers import TokenClassificationPipeline

    found = chosen.find(project)
    network, tokenizer = load_model(found, "AutoModelForTokenClassification", chosen.device), load_part(found, "AutoTokenizer")
    labels = {label.rpartition("-")[2].upper() for label in network.config.id2label.values()}
    if not labels & KINDS.keys():
        hint = "name a model that was trained for named entities, with the labels of CoNLL (PER, LOC, ORG, MISC) or OntoNotes"
        raise HearsightError(f"knows no kind of name, only {', '.join(sorted(labels))[:80]}", where=chosen.model, hint=hint)
    tokenizer.model_max_length = min(tokenizer.model_max_length, getattr(network.config, "max_position_embeddings", 512))
    return TokenClassificationPipeline(model=network, tokenizer=tokenizer, aggregation_strategy="first", device=network.device)
