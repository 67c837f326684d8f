"""takedown: what somebody asked us to give up leaves every file we have, and a scan proves it.

The list is read by the crawl, which drops what it names and clears its fetch store (``components/stages/crawl``: ``takedown``,
``naming``, ``orphans``, ``sources/taken``, ``web/erase``). Here is what a person does, and what older runs left:

    listing                      writing the list
    matcher  looking             a listed thing, recognised in bytes and in any kind of file
    evidence                     what the removed records were called, by hashes
    caches   versions  tracked   where older runs keep things: our caches, DVC's stores, MLflow
    plan     purge               all that would go; doing it
    scan                         the proof
    commands                     the verbs of the command line

Not in scope: copies elsewhere (a colleague's clone, git's history, a published set), which are named and not reached.
"""
