"""Finds failures of the corpus in code, by reading it: nothing of it is imported or run.

A rule has the name of what it finds: the header of repros/FAMILY/NAME.py has its level (`rule`) and
its condition (`when`), and the function NAME() of rules/FAMILY/NAME.py gets a file as Code and
yields a Hit for each place. It must find the reproducer's `wrong` lines and nothing in the `right`
ones: lint checks both. tests/harness/scan/FAMILY/NAME.py has code that it reads, with marks.
"""
