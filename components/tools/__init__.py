"""Commands outside the graph of stages, a package or module each; ``cli`` has their options and help texts."""
