"""Measures reproducers: the worker, the runner, environments, and the saving of results."""
