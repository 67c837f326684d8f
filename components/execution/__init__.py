"""Execution of stages: the runner, the ``Stage`` object of a run, engines (local processes, Ray), worker processes and locks.

What a stage computes belongs to ``stages``, the files on disk to ``core``.
"""
