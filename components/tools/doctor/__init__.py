"""Check whether this machine has what the commands need (``hearsight doctor``).

Checks repair nothing; each finding names the command that does. All checks together take about two seconds of CPU, since no
model is loaded. Not in scope: credentials of paid services.
"""
