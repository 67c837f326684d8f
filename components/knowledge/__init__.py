"""What kind of thing a named entity is: WordNet, gazetteers, brands, Wikidata and Google's Knowledge Graph, asked in order."""
