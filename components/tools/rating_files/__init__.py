"""Files of ratings for and from other labelling tools.

    importing    copy ratings of other tools into ``ratings/<dataset>``, with raters' names replaced by pseudonyms
    exporting    items as tasks for Label Studio, and the canonical table as files

Not here: the formats (``components.ratings.formats``), and the project's own rating pages (``components.app``).
"""
