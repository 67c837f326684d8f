"""Images: labels, pornography scores, frozen features, crops, and encoders by name. Networks and losses are in ``models``."""
