"""Find damaged results in the result caches, and remove them alone."""
