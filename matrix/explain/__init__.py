"""Answers users' questions: the meaning of an error, the reproducer of a symptom, bug reports."""
