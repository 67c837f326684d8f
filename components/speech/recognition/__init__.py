"""Speech to text: Whisper by ONNX Runtime, from packaged weights."""
