"""Coverage-guided fuzzing of every parser of untrusted bytes (`python -m tests.fuzz --help`)."""
