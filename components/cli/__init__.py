"""The command line ``hearsight``: one thin module for each group of commands."""
