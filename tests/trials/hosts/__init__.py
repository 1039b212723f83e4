"""Runs the reference fixes inside released trainers and compares the results with the host's."""
