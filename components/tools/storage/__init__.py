"""Switch a project's storage, and move, count and delete what is in the bucket."""
