"""reporting: what every page, table and figure of a result shares.

Here are the Jinja environment with the shared base template, number formats, a value with its interval and a contrast of two
values, SVG elements, PNG figures, CSV tables, and files inside a page. A stage keeps its own texts and templates
(``components/<stage>/data``). Not here: what is measured (``metrics``), how a stage writes its output (``core``).
"""
