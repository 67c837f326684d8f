"""What every package builds on: records, stage outputs (shards, ledger, manifest), caches, settings and the graph of stages.

Here: what lies on disk and how it is named, read, written and digested. Not here: running anything (``execution``), the network,
models, MLflow.
"""
