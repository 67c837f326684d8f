"""Selects the provider, embedded or Google, of each role of text and image analysis, by ``filter.providers``."""
