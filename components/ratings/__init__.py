"""Human ratings of image–caption pairs and retrieval results: formats, tables and agreement, and the store of a running rating.

    verdicts         GOOD and BAD, and reading RATING records
    formats          CSV: ratings in and out
    tables           shares rated GOOD, recall by majority, agreement (CC section 5.4, CSC section 4.4)
    store            raters, assignments and ratings of a running rating, in SQLite

Not in scope: which items are rated (the stage ``build_rating_items``), pages (``components.app``).
"""
