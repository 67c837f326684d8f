"""Inspect untrusted images within limits of CPU time and memory: format, size, perceptual hash, completeness."""
