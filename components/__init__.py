"""Describe, speak, de-duplicate and learn from images of the web. Packages import only from those below them
(``pyproject.toml``, import-linter): cli, tools, tracking, stages, retrieval, sample, speech, providers, knowledge and vision,
training and search, metrics, language, google and models and web, execution, core.
"""
