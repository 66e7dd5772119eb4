"""One use case each, read top-down; each arrives with what it needs and returns a value."""
