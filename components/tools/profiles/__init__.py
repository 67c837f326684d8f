"""Experiment profiles: chain and settings of whole experiments over data that the user has; a YAML file each in ``data``.

A file has two documents. The first says what the experiment needs and is wired to (:class:`~.profile.Profile`); the second is
appended to params.yaml as it is written. ``{data}`` stands for the user's folder in both.
"""
