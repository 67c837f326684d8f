"""Describe, speak, de-duplicate and learn from images of the web. Packages import only from those below them
(``pyproject.toml``, import-linter); docs/architecture.md lists them.
"""
