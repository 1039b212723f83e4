"""What `explain` and `search` show first, for the trials that judge it."""

from __future__ import annotations

from matrix.explain import explain, search

FIRST = 3  # the number of results that count


def listed(answers: list[explain.Answer]) -> list[set[str]]:
    """The ids and sentences of each cause in the answers of `explain`, in their order."""
    shown: list[set[str]] = []
    for answer in answers:
        shown += [{cause.see, cause.cause} for cause in answer.causes] or [set(answer.ids)]
    return shown


def results(words: str, index: search.Index) -> tuple[list[search.Found], bool]:
    """The first results of `search`, guesses included, and whether one is said to fit.

    A checklist is not said to fit, because it names no cause.
    """
    fitting, guesses = search.shown(index.search(words), FIRST, FIRST)
    return [*fitting, *guesses], any(found.fit for found in fitting)
