"""How a stage runs: what its ``run`` is given, the runner, the engines (local processes, Ray), worker processes and their locks.

Not here: what a stage computes (``stages``), and what lies on disk (``core``).
"""
