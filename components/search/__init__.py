"""Search by sound, text or image among embeddings (docs/search.md).

``nearest`` finds the rows of greatest dot product (usearch); ``index`` stores embeddings with their items; ``items`` makes these
from pairs; ``queries`` reads sounds and images and ``query_encoder`` embeds them; ``searcher`` is a search folder of all these,
as the stage ``build_search_index`` writes it.
"""
