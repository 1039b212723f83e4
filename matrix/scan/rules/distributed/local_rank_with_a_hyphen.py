from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, constant
from .. import needs


@needs("local_rank", "add_argument")
def local_rank_with_a_hyphen(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("add_argument", ()):
        options = [constant(option) for option in call.args]
        only_old = "--local_rank" in options and "--local-rank" not in options
        if only_old and not code.calls.get("parse_known_args"):
            yield Hit(call, "the launcher passes --local-rank, which this parser does not accept")
