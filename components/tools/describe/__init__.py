"""Describe pictures: a caption with a confidence, evidence, and what the models cannot do (``hearsight describe``).

``describer`` describes one picture, ``folder`` a folder of pictures, ``page`` the images of a page without alt-text; ``speech``
reads a caption aloud. Models are loaded once by :meth:`describer.Describer.open`, and threads may share a describer.
"""
