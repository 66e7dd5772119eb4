"""The vault on disk: paths, the transaction, logs, claims, cards."""
