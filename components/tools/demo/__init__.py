"""Run the whole pipeline with overall progress, at the size of the demo or of the large tables.

What stages do and what depends on what say ``dvc.yaml`` and ``params.yaml``.
"""
