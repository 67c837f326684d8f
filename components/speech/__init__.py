"""Speech: audio as arrays, text normalisation, voices (text to speech) and recognition (speech to text)."""
