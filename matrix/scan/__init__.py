"""Finds failures of the corpus in code, by reading it: nothing of it is imported or run.

A rule stands beside what it finds: the header of repros/<family>/<name>.py has its level (`rule`)
and its condition (`when`), and rules/<family>.py has a function of the same <name>, which gets a
file as Code and yields a Hit for each place. It must find the reproducer's `wrong` lines and
nothing in the `right` ones: lint checks both.
"""
