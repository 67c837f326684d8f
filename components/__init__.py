"""The behaviour of Hearsight: one package a stage, and what they share. Importing anything here does no work."""
