"""What ``hearsight demo`` and ``hearsight experiments`` add to the flow: an opening, settings of the large tables, results."""
