"""Entities and value types: no I/O, and no import of any other package of ours."""
