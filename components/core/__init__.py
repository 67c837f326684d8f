"""What every stage stands on: records, shards, manifest, ledger, caches, parameters, lineage, graph and engine.

In scope: moving tables between stages so that nothing is lost, repeated or half written.
Not in scope: what any stage decides about a record (see ``components/<stage>``).
"""
