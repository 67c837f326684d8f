"""Sources of candidates: a live site, web archives, the table of an existing set, or a hashtag's posts (``crawl.source``).

Each source is one small class that yields source pages with their images in a fixed order. All later steps (checking images,
fetching them, writing records) are shared. The settings and the source of each kind: ``source_kinds``.
"""
