"""DVC's graph as Prefect flows. Only ``rating`` names stages. Of ``components`` only core, execution and tracking are imported."""
