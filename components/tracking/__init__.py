"""Experiment tracking and lineage: runs, models and metrics in MLflow, the lineage of a model, and the decisions on one record.

Only this package and the takedown import MLflow. Outputs of stages do not depend on it.
"""
