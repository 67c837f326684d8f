"""One package for each stage of dvc.yaml, and ``check``, which checks the output of every stage.

A stage defines ``Params`` in its ``__init__`` and ``run(stage)`` in its module ``run``. No stage imports another.
"""
