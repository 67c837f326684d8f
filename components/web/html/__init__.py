"""Read image candidates and links from an HTML page: from its tree, or in one pass over its bytes where the result is equal."""
