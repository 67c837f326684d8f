"""Experiments and lineage: runs, models and metrics in MLflow, the walk from a model back to its pages, the life of one record.

The only package that imports MLflow, besides the takedown. A stage's output never depends on it.
"""
