"""Removal on request: write the takedown list, purge what older runs kept of listed items, and scan for what is left.

The crawl reads the list, drops listed items and clears its fetch store (``components.stages.crawl``, ``components.web.erase``).
This package does the rest:

    listing                          add entries to the list
    file_search                      recognise a listed item in bytes, and in files of any kind
    evidence                         keys and content digests of the removed records
    caches  versions                 what older runs left in Hearsight's caches and in DVC's stores
    bucket_objects                   what they left in S3
    ratings                          what is left in people's ratings: files and the database of a running rating
    tracked                          what they left in MLflow: artefacts, parameters, models
    covered  holders                 find the rows that an entry covers, and the outputs that hold them, quickly
    answer                           what came from an address, and the receipt for the person who asked
    plan                             list everything to delete; delete it
    scan                             search every file and report what is left

Not in scope: copies elsewhere (a colleague's clone, git's history, a published dataset); a purge names them only.
"""
