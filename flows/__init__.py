"""DVC's graph as Prefect flows; only core, execution and tracking of ours are imported."""
