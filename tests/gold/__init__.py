"""Alt-texts with the verdict and the caption that a careful person would give them, and how often the pipeline agrees.

``seen.jsonl`` was written first and looked at while the rules were built; ``unseen.jsonl`` and ``third.jsonl`` were written by
others afterwards, and read first as docs/quality.md tells.
``python -m tests.gold`` judges them and tells what fails. Nothing under ``components`` reads these files.
"""
