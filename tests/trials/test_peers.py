import pytest

from tests.peers import __main__ as peers
from tests.peers.adapters import Ours, Torch, TorchErrorIfNonfinite
from tests.peers.properties import PROPERTIES, judge

BY_PROMISE = {f"{property.part}: {property.promise}": property for property in PROPERTIES}


@pytest.mark.parametrize("name", BY_PROMISE)
def test_the_reference_fixes_hold_every_property_that_peers_are_judged_by(name):
    assert judge(Ours(), BY_PROMISE[name]) == ("pass", "")


@pytest.mark.parametrize(
    ("peer", "name", "detail"),
    [
        (
            Torch,
            "step: an inf or NaN gradient leaves the weights as they were",
            "([0.0], inf): weights become [nan]",
        ),
        (Torch, "snapshot: restores parameters by value", "0.0: [0.0, 0.0] after restoring 1"),
        (
            Torch,
            "epoch: the last, shorter window steps too",
            "([1.0], 2): weight 1: the last 1 batches changed nothing",
        ),
    ],
)
def test_a_peer_that_fails_is_shown_with_the_smallest_example(peer, name, detail):
    assert judge(peer(), BY_PROMISE[name]) == ("fails", detail)


def test_a_part_that_a_peer_has_not_got_is_no_failure():
    assert (
        judge(
            TorchErrorIfNonfinite(), BY_PROMISE["search: finds the largest batch size that fits"]
        ).state
        == "none"
    )


def test_a_property_that_only_a_peer_holds_is_red():
    def entry(state):
        return {"properties": {"a": [state, ""]}}

    assert peers.ours_behind({Ours.name: entry("fails"), "other": entry("pass")}) == ["a"]
    assert peers.ours_behind({Ours.name: entry("fails"), "other": entry("none")}) == []


def test_the_table_is_what_the_kept_results_say():
    found = peers.load()
    assert found, "no results are kept: nox -s peers"
    assert peers.TABLE.read_text(encoding="utf-8") == peers.render(found)
    assert peers.ours_behind(found) == []
