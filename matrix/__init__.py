"""Finds the reproducers, runs each of them in a child process on the torch under test, and judges
the outcomes.
"""

__version__ = "0.1.0"
HOME = "https://github.com/torch-repros/torch-repros"
