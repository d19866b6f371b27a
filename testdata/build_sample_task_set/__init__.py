"""Builds the sample task set from the content beside it."""
