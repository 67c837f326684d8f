"""Run the whole pipeline with overall progress, at the size of the demo or of the large tables.

In scope: starting ``dvc repro``, its log, its progress, the temporary settings of the large tables, the closing list of results.
Not in scope: what stages do and what depends on what; ``dvc.yaml`` and ``params.yaml`` say that.
"""
