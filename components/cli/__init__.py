"""The command line ``hearsight``: thin modules, one for each group of commands."""
