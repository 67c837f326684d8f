"""Wikidata as a source of hypernyms: its JSON dump made into a local index, and its SPARQL endpoint. Both choose alike
(``choosing``). Wikidata's content is CC0."""
