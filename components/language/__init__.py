"""Text analysis: parsing, WordNet, language identification, polarity and profanity, by embedded models or by Google."""
