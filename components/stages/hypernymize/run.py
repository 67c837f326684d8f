"""Run hypernymize: rewrite each text, count the concepts, and drop captions with a rare one."""

from __future__ import annotations

from components.execution.stage import Stage
from components.google.cost import record_usage
from components.providers.registry import plan_of
from components.stages.hypernymize import Params
from components.stages.hypernymize.lookups import prepare_knowledge, rewritten_shard
from components.stages.hypernymize.rarity import keep_common


def run(stage: Stage) -> None:
    """Rewrite every text, then keep the captions whose concepts are all common in the whole corpus."""
    params: Params = stage.params
    shards = stage.inputs["input"].shards
    rewriting = {"min_words": params.min_words, "stated_role": params.stated_role}
    plan = plan_of(stage.project, stage.inputs["input"])
    with record_usage(stage, plan):
        shared = prepare_knowledge(stage, rewriting, plan)
        captions = stage.map(rewritten_shard, shards, step="rewrite", params=rewriting, shared=shared, publish=False)
    entered = sum(shard.rows for shard in stage.inputs["input"].manifest.shards)
    keep_common(stage, captions, entered)
