"""DVC's graph as Prefect flows. No module names a stage; of ``components`` only core, execution and tracking are imported."""
