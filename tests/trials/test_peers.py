from __future__ import annotations

from typing import Any

import pytest

from tests.trials.peers import __main__ as peers
from tests.trials.peers.adapters import Ours, Peer, Torch, TorchErrorIfNonfinite
from tests.trials.peers.properties import PROPERTIES, judge

BY_NAME = {property.name: property for property in PROPERTIES}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_reference_fixes_hold_every_property_that_peers_are_judged_by(name: str) -> None:
    assert judge(Ours(), BY_NAME[name]) == ("pass", "")


@pytest.mark.parametrize(
    ("peer", "name", "detail"),
    [
        (
            Torch,
            "step: an inf or NaN gradient does not change the weights",
            "([0.0], inf): weights become [nan]",
        ),
        (
            Torch,
            "snapshot: restores parameters by value",
            "0.0: [0.0, 0.0] after restoring 1",
        ),
        (
            Torch,
            "epoch: also steps on the last, shorter window",
            "([1.0], 2): weight 1: the last 1 batches changed nothing",
        ),
    ],
)
def test_a_peer_that_fails_is_shown_with_the_smallest_example(
    peer: type[Peer], name: str, detail: str
) -> None:
    assert judge(peer(), BY_NAME[name]) == ("fails", detail)


def test_a_part_that_a_peer_does_not_have_is_not_counted_as_a_failure() -> None:
    outcome = judge(
        TorchErrorIfNonfinite(), BY_NAME["search: finds the largest batch size that fits"]
    )
    assert outcome.state == "none"


@pytest.mark.parametrize(("theirs", "count"), [("pass", 1), ("fails", 0), ("none", 0)])
def test_a_property_that_only_a_peer_holds_fails(theirs: str, count: int) -> None:
    def outcome(state: str) -> dict[str, Any]:
        return {"properties": {"a": [state, ""]}}

    problems = peers.problems({Ours.name: outcome("fails"), "other": outcome(theirs)})
    assert problems == ["a peer holds this and the reference fixes do not: a"] * count


def test_the_table_in_the_docs_is_what_the_kept_results_say() -> None:
    results = peers.load()
    assert results, f"no results are kept; run `{peers.COMMAND}`"
    assert peers.TABLE.read_text(encoding="utf-8") == peers.render(results)
    assert peers.problems(results) == []
