"""hypernymize: names become the words for what they name, and captions of rare concepts are dropped (C5, C6).

Source: Conceptual Captions (CC) section 3, text transformation with hypernymization, and its table 1; where its
figure 1 keeps a location or a determiner that the table drops, the table rules.
First map: each text is rewritten by a chain of small steps and dropped when too little is left. Second map and reduce:
how many captions speak of each concept, counted by shard and added. Third map: a caption stays only if every concept of it is
common enough. Shards that are appended later are rewritten and counted alone. ``concepts.tsv`` lists the concepts.
Not in scope: which entity is meant (a knowledge graph's work; the embedded knowledge knows few people).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.core.params import Settings
from components.google.cost import record_usage
from components.knowledge.setup import KnowledgeSettings
from components.providers.registry import plan_of

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Params(Settings):
    """Settings of hypernymize."""

    min_words: int = 2
    """Words a caption must have at least after the rewriting. Ours; CC §3 publishes none ("too short")."""
    stated_role: bool = False
    """Whether a person of whom nothing is known is called by the role stated before the name ("artist"), not "person". CC
    table 1: "artist Duncan McKellar" becomes "person"."""
    concept_level: Literal["noun", "kind"] = "noun"
    """Whether a noun stands for itself, or, when rare, for its nearest common kind (``concepts.py``). CC §3: noun."""
    min_concept_count: int = 101
    """Captions that must speak of a concept, at least, for a caption with it to stay. CC §3: over 100."""
    knowledge: list[str] = ["embedded"]
    """Sources of hypernyms in the order they are asked: embedded, wikidata_index, wikidata, google. Ours; CC §3: the Google
    Knowledge Graph."""
    knowledge_settings: KnowledgeSettings = KnowledgeSettings()
    """What the sources other than embedded need."""


def run(stage: Stage) -> None:
    """Rewrite, then keep the captions whose every concept is common in the whole corpus."""
    from components.stages.hypernymize.lookups import prepare_knowledge, rewritten_shard
    from components.stages.hypernymize.rarity import keep_common

    params: Params = stage.params
    shards = stage.inputs["input"].shards
    rewriting = {"min_words": params.min_words, "stated_role": params.stated_role}
    plan = plan_of(stage.root, stage.inputs["input"])
    with record_usage(stage, plan):
        shared = prepare_knowledge(stage, rewriting, plan)
        captions = stage.map(rewritten_shard, shards, step="rewrite", params=rewriting, shared=shared, publish=False)
    entered = sum(shard.rows for shard in stage.inputs["input"].manifest.shards)
    keep_common(stage, captions, entered)
