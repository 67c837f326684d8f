"""The command line ``hearsight``: one thin module for each group of commands.

A command imports what it runs inside its function, so that ``hearsight --help`` and completion load none of it.
"""
