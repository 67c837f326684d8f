"""Images: labels, pornography scores, features, crops, and the encoders that are chosen by name."""
