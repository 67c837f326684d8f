"""Search for people: the registered index of a dataset, spoken text as a query, and the speech of every result.

``engine`` opens an index once for any number of threads; ``text`` makes a query of a text. The search itself is
:mod:`components.retrieval.searcher`.
"""
