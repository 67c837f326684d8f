"""Alt-texts with the verdict and the caption that a careful person would give them, and how often the pipeline agrees.

``seen.jsonl`` was written first and looked at while the rules were built; ``unseen.jsonl`` was written by others afterwards.
``python -m tests.gold`` judges both and tells what fails. Nothing under ``components`` reads these files.
"""
