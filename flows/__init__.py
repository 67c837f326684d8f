"""DVC's graph as Prefect flows: nothing here knows a stage by name, and of ``components`` only the core is imported."""
