"""Name the next snapshot of a dataset, and repeat failed requests of a complete one."""
