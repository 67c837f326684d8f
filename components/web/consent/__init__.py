"""Consent: what hosts, pages and images state about their use, kept as raw statements, and one policy that decides by them.

``statements`` collects them from headers and meta tags, ``image_metadata`` from images, ``robots`` (beside this) from robots.txt.
``readings`` says what a statement refuses or allows, ``policy`` decides. Equal statements give equal decisions, so that a changed
policy needs no request. No input makes a reader raise.
"""
