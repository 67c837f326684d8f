"""Speech to text: Whisper by CTranslate2, from packaged weights."""
