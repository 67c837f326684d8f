"""Which provider, embedded or Google, fills each role of text and image analysis, as ``filter.providers`` says."""
