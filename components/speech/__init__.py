"""Speech: audio as arrays, text normalisation, voices (text to speech) and recognition (speech to text).

Out of scope: what a stage decides about a record, such as the choice of voice and prosody.
"""
