"""Answers users' questions about errors and symptoms, and writes bug reports."""
