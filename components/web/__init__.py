"""Fetch politely, keep every answer, and read what was fetched: robots.txt and opt-outs, the WARC store, archives, HTML, images.

Usable on its own: it knows no stage and no dataset. Not here: which pages are wanted, and records (``stages.crawl``).
"""
