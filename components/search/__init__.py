"""Search among embeddings: an exact index on disk, and an approximate one beside it. No stage, no model.

In: embeddings of pictures and speech by one model, a table that says what each is, and the model's digest. Out: for queries of
the same model, the rows with the greatest dot products. ``index`` and ``hearsight search`` stand on it (docs/search.md).
Not in scope: how an embedding is made, and what is shown of an item.
"""
