"""DVC's graph as Prefect flows. Only ``rating`` names stages. Only core, execution and tracking of ``components`` are imported."""
