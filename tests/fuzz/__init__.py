"""Fuzzing: every parser of untrusted bytes run on inputs that coverage guides (`python -m tests.fuzz --help`)."""
