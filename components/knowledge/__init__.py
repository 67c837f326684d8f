"""Hypernyms of named entities, from WordNet, gazetteers, brands, Wikidata and Google's Knowledge Graph, in order of settings."""
