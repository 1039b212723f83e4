"""The machine: it finds the reproducers, runs each in a child of the torch under test, and judges what it saw."""

__version__ = "0.1.0"
