"""Commands outside the graph of stages, a package each; ``cli`` has their options and help texts."""
