"""Captions of posts with the description each should give, or none.

``seen.jsonl`` was written beside the rules, the other files apart from them.
"""
