"""DVC's graph as Prefect flows. Only ``rating`` names stages; of ``components`` only core, execution and tracking are imported."""
