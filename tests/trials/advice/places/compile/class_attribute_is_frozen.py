"""A factor that is changed between the calls of a compiled function, against a multiplication."""

import torch  # noqa: F401 (what is pasted uses it)

REQUIRES = ">=2.1"


class Config:
    factor = 1.0


def place(t):
    results, backend = [], "eager"
    for x, _ in t.batches:
        Config.factor = 1.0
        paste
        results.append(compiled(x))
    return results


def reference(t):
    return [x + x for x, _ in t.batches]
