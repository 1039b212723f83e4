"""Answers users: what an error means, which reproducer has a symptom, what to put in a report."""
