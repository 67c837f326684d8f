"""What every stage about speech–image retrieval shares: pairs of utterances and pictures, their batches, training, embedding.

Not a stage. ``train`` and ``tune`` train with it, ``evaluate`` and ``index`` embed with it. The networks and losses are in
``components.models``, how a run is fitted and resumed in ``components.training``. Source: CSC, sections 3 and 4.
"""
