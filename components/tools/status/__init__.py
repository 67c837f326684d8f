"""The state of a project: what runs, what failed, what would run next and why, and the logs and costs of earlier runs.

Reads files only: it takes no lock of DVC, and neither DVC nor MLflow is imported.
"""
