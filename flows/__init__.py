"""DVC's graph as Prefect flows. Only ``rating`` names stages; only core, execution and tracking of ours are imported."""
