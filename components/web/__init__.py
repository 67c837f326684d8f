"""Fetch politely, keep every answer, and read what was fetched: robots.txt, opt-outs, the WARC store, archives, HTML, images.

The package is usable on its own: it knows no stage and no dataset. Which pages are crawled, and records, are in ``stages.crawl``.
"""
