"""Wikidata as a source of hypernyms (CC0): a local index made from its JSON dump."""
