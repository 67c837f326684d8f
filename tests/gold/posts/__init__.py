"""Captions of posts with the description each should give, or none.

``seen.jsonl`` was written beside the rules, the other files apart from them, and ``taught.jsonl`` to train the score of segments.
That score has learned from all of them (``train_segments``).
"""
