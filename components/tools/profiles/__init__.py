"""Experiment profiles: chain and settings of whole experiments over data that the user has; a YAML file each in ``data``.

A file has two documents. The first says what the experiment needs, and its chain (:class:`~.profile.Profile`); the second
has the settings of each dataset, with the user's folder for ``{data}``. Its anchors are written out in the files of datasets.
"""
