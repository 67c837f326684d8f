"""Tables of human ratings, computed from items and ratings without a loop over either.

    votes        the ratings of each item that count, and how many are GOOD
    uses         the places of tables that items fill, as arrays
    estimates    means and agreement with intervals over items
    shares       shares rated GOOD by k or more of n raters, with agreement (CC tables 2 and 4, CSC table 3)
    recall       recall by the majority of raters beside that of known pairs (CSC table 4)
    paper        the papers' figures

Not here: files and pages (the stage ``evaluate_ratings``).
"""
