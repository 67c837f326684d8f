"""Show what each unpublished threshold of the text rules would keep and drop on given alt-texts; settings are not changed.

Conceptual Captions names its text rules but not their thresholds (CC §3: noun ratio, repetition, capitals, polarity, …).
Every rule measures every candidate once (``run``), with the filter's own functions and caches; then the thresholds are
swept over the measured values (``sweep``). Of the rules on images only the score of image and text can be swept
(``image_text``); the others then apply as they are set.
"""
