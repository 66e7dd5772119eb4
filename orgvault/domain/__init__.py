"""The records and the rules: values in, values out; no files, clock, network or environment."""
