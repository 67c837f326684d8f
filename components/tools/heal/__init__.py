"""Recover images whose addresses are dead: from there or from web archives, if a copy is what a record states."""
