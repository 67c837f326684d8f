"""Describe images: a caption with a confidence, evidence, and what the models cannot do (``hearsight describe``).

``describer`` describes one image, ``folder`` a folder of images, ``sources`` an address or a page whose images lack
alt-text; ``speech`` reads a caption aloud. Models are loaded once by :meth:`describer.Describer.open`; threads may share it.
"""
