"""One package for each stage of dvc.yaml, and ``check``, which checks the output of every stage.

A stage defines ``Params`` and ``run(stage)`` in its ``__init__``. No stage imports another.
"""
