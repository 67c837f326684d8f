"""``hearsight doctor``: whether this machine has what the commands need, before any of them runs.

A check looks and repairs nothing; each finding names the command that does. The whole takes about two seconds of CPU: no
model is loaded. Not in scope: whether credentials of paid services are valid.
"""
