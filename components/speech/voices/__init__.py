"""Voices: the catalogue of speakers (``catalogue``), and text to 16 kHz mono speech (``speaking``).

Out of scope: the choice of voice and prosody (the synthesize stage), and text normalisation.
"""
