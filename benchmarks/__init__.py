"""Measurements beside the systems a user would otherwise pick; see README.md."""
