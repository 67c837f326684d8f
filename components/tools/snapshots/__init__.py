"""Prepare the next snapshot of a dataset, and ask again for answers that failed."""
