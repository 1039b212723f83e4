"""What the tests of the watch share."""

import io

from matrix.watching.check import EVENTS, Check
from matrix.watching.run import Run


def with_check(check, **options):
    """A run with this check only."""
    run = Run(checks=[], stream=io.StringIO(), **options)
    made = check(run)
    run._names[id(made)] = "family/name"
    for event in EVENTS:
        if getattr(check, event) is not getattr(Check, event):
            run._handlers[event].append((made, getattr(made, event)))
    return run
