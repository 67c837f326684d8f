"""hypernymize: replace names by their hypernyms and drop captions with rare concepts.

Source: CC §3, text transformation with hypernymization, and its table 1; where figure 1 keeps a location or a determiner that
the table drops, the table decides.
A first map rewrites each text by a chain of small steps and drops it when too little is left. A second map counts in how many
captions each concept occurs, shard by shard. A third map keeps a caption only if all of its concepts are common enough. Shards
that are appended later are rewritten and counted alone. ``concepts.tsv`` lists the concepts.
A text model may propose the captions instead (``server_captions``).
Not in scope: entity linking (a task for a knowledge graph; the embedded knowledge contains few people).
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import Settings
from components.hub.model import HubModel
from components.knowledge.remote import KnowledgeSettings
from components.knowledge.setup import check_order

RULE_SETTINGS = {
    "too_short": ("min_words",),
    "unknown_name": ("min_name_signals",),
    "inconsistent": (),
    "rare_concept": ("min_concept_count", "concept_level"),
    "server_caption": ("rewriter",),
    "unanswered": ("rewriter",),
}
"""Rule of the ledger → the settings of ``Params`` that set its threshold."""
RULES = "rules"
REWRITING = ("min_words", "min_name_signals")
"""Settings of ``Params`` that decide how a text is rewritten."""


class Params(Settings):
    """Settings of hypernymize."""

    min_words: int = 2
    """Words a caption must have at least after the rewriting. Ours; CC §3 publishes none ("too short")."""
    min_name_signals: int = 2
    """Independent signals that must agree on the kind of a name (``evidence.py``); with fewer it takes its own head noun, or the
    caption is dropped. Ours; CC §3 takes the kinds of a knowledge graph."""
    names: HubModel = HubModel()
    """A model for named entities (token classification), the second recogniser of a name's kind: it is a signal for the kind, or
    cancels the parser's (``docs/providers.md``); none: the parser alone. Ours."""
    concept_level: Literal["noun", "kind"] = "noun"
    """Whether a noun is its own concept or, if rare, its nearest common hypernym (``concepts.py``). CC §3: noun."""
    min_concept_count: int = 101
    """Captions with a concept, at least, for captions with it to stay. CC §3: over 100."""
    rewriter: str = RULES
    """What rewrites: rules, or the name of a text model of ``params.yaml: server``. Ours."""
    knowledge: list[str] = ["embedded"]
    """Sources of hypernyms in the order of lookup: embedded, wikidata_index, google. Ours; CC §3: the Google Knowledge
    Graph, which knows people. The embedded source needs no network, key or index, and the run says what is lost."""
    knowledge_settings: KnowledgeSettings = KnowledgeSettings()
    """Settings of the sources other than embedded."""

    def check(self, where: str) -> None:
        """Require known sources, each once, and what each needs; and a rewriter."""
        if not self.rewriter:
            raise HearsightError("is empty", where=f"{where}.rewriter", hint=f"write {RULES}, or the name of a text model")
        check_order(self.knowledge, self.knowledge_settings, where)
