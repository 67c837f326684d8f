"""Shared parts of pages, tables and figures.

The package holds the Jinja environment with the base template, number formats, values with intervals, contrasts of values, SVG
elements, PNG figures, CSV tables, and data URIs. Templates and texts of a page are in its stage (``components/stages/<stage>``).
Not here: metrics (``metrics``), outputs of stages (``core``).
"""
