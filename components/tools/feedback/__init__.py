"""Feedback on an alt-text: which filter rules of the paper it passes, and what it lacks (``hearsight feedback``).

``feedback`` collects the remarks and states CC's rules in plain words; ``guidelines`` checks for what #PraCegoVer's descriptions
contain.
"""
