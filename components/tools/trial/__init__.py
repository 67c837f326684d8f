"""Run filter and hypernymize, or extract_descriptions, on single texts (``hearsight try``)."""
