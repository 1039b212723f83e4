"""Runs the reference fixes inside released trainers and compares their results with the host's."""
