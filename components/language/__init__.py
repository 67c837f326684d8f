"""Text: parsing, dictionaries, WordNet, language identification, polarity and profanity, by embedded models or by Google."""
