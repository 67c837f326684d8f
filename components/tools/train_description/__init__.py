"""Train the score of description (``hearsight train-description``): descriptions against headlines, link texts and buttons.

Positive examples are captions (the user's own, published ones); negative ones are titles, headings, link texts and buttons of
pages; alt-texts with a verdict are both (``components.tools.labelled``). ``examples`` reads and varies them, ``train`` fits and
cross-validates.
"""
