"""Code shared by the stages of speech–image retrieval: pairs of utterances and images, their batches, training, embedding.

Not a stage. The training stages train with it; ``evaluate_retrieval`` and ``build_search_index`` embed with it. Networks and
losses are in ``components.models``, running and resuming a training in ``components.training``. Source: CSC §3 and §4.
"""
