"""Search among embeddings: an exact index on disk, with an approximate one beside it. No stage and no model.

Input: embeddings of pictures and speech by one model, a table of items, and the model's digest. Output: for queries of the same
model, the rows with the greatest dot products. Used by ``build_search_index`` and ``hearsight search`` (docs/search.md).
Computing embeddings and displaying items is not in scope.
"""
