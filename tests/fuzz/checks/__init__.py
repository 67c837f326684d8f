"""Properties that must hold for any input of a parser: one function per target, which raises when one does not."""
