"""Add a dataset to params.yaml: its stages in the chain, and the settings that it changes."""
