"""Asking the web and keeping its answers: politeness, robots.txt, retries, and an append-only store of WARC records."""
