"""What must hold of a parser whatever bytes it gets: one function a target, which raises when it does not."""
