"""Voices: who there is (``catalogue``), and text in, 16 kHz mono speech out (``speaking``).

Not in scope: which voice says what, how fast and how high (the synthesize stage draws that), and what a text must become
before it can be spoken.
"""
