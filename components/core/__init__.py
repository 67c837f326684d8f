"""Foundation of all packages: records, stage outputs (shards, ledger, manifest), caches, settings and the graph of stages.

It defines the files on disk: their names, formats and digests. It runs no stage (``execution``) and uses neither the network, nor
models, nor MLflow.
"""
