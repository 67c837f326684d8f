"""Find damaged results in the result caches and delete only these."""
