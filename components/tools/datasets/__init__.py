"""Add a dataset: its stages in the user's chain, and a file of the settings that it changes."""
