"""Look at images of strangers within limits of CPU time and memory: format, size, perceptual hash, whether they are whole."""
