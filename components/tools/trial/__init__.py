"""Try single texts: what filter and hypernymize, or extract_descriptions, make of them."""
