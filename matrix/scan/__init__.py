"""Finds known failures in code by reading it. The code is neither imported nor run.

A rule is named after its reproducer. The header of repros/FAMILY/NAME.py states the rule's level
(`rule`) and its condition (`when`). The function NAME() in rules/FAMILY/NAME.py receives a file as
Code and yields a Hit for each place. It must find the reproducer's `wrong` lines and nothing in its
`right` lines, and lint checks both. The marked test code is in tests/harness/scan/FAMILY/NAME.py.
"""
