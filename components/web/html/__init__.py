"""Read the image candidates and the links of an HTML page: from its tree, or in one pass over its bytes where that is equal."""
