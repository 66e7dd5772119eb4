"""The only door to git: where a repository is, in what state, its objects, index and refs."""
