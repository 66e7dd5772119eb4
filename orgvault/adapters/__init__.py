"""The outside world: clock, token counter, transcripts, models."""
