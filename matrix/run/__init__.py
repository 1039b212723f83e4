"""Measuring: the worker in the interpreter under test, the runner, environments, and saving."""
