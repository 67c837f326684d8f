"""Ask Google Cloud services: one client, its limits, what was used and what it costs. Without Google nothing here is imported."""
