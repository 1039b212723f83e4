"""Tests the installed peers, saves the results, and writes all saved results to docs/peers.md.

nox -s peers        or        python -m tests.trials.peers GROUP
"""

from __future__ import annotations

import datetime
import importlib.metadata
import importlib.util
import json
import math
import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import torch

from tests.trials.peers.adapters import PEERS, Ours, Peer
from tests.trials.peers.properties import OOM, PROPERTIES, Step, judge, quiet
from tests.trials.shared import DOCS, finish, table, write

TABLE = DOCS / "peers.md"
COMMAND = "nox -s peers"
RESULTS = Path(__file__).with_name("results")

# Imported by name, because mypy would otherwise require annotations in a test module.
MESSAGES: Any = importlib.import_module("tests.fixes.test_memory")
OOM_TEXTS: list[str] = MESSAGES.TEXTS
OTHER_TEXTS: list[str] = MESSAGES.OTHERS

SEARCHES = [(1024, 37), (256, 16), (64, 64), (1000, 999)]  # (largest, largest that fits)
PARTS = {
    "search": "Finding the batch size",
    "step": "A clipped step",
    "epoch": "Gradient accumulation",
    "precision": "Precision on the CPU",
    "to_device": "Moving a batch",
    "snapshot": "Going back to a good state",
    "total_loss": "Losses by name",
    "input_gradient": "Gradients of the input",
    "predict": "Predicting",
}

Found = dict[str, dict[str, Any]]  # the name of a peer -> the result of measure_peer


# ---- measuring ----


def installed(peer: type[Peer]) -> bool:
    module = {"mosaicml": "composer"}.get(peer.package, peer.package)
    return not module or importlib.util.find_spec(module) is not None


def measure(peers: list[type[Peer]], keep: Callable[[str, dict[str, Any]], None]) -> Found:
    """Tests every peer for every property, and calls `keep` after each peer."""
    results = {}
    total = len(peers) * len(PROPERTIES)
    with click.progressbar(length=total, label="peers", file=sys.stderr) as bar:
        for peer in peers:
            results[peer.name] = measure_peer(peer(), lambda: bar.update(1))
            keep(peer.name, results[peer.name])
    return results


def measure_peer(peer: Peer, advance: Callable[[], None]) -> dict[str, Any]:
    results = {}
    for property in PROPERTIES:
        results[property.name] = list(judge(peer, property))
        advance()
    return {
        "version": importlib.metadata.version(peer.package) if peer.package else "",
        "torch": torch.__version__.split("+")[0],
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "python": platform.python_version(),
        "properties": results,
        "recognised": recognised(peer) if peer.recognises else None,
        "searches": searches(peer) if peer.search else None,
    }


def recognised(peer: Peer) -> dict[str, bool]:
    """Maps each message to True if the peer treats the message as an out-of-memory error."""
    return {text: bool(peer.recognises(_error(text))) for text in OOM_TEXTS + OTHER_TEXTS}


def _error(text: str) -> RuntimeError:
    # torch raises a special type if its allocator fails
    if re.match(r"(CUDA|HIP|XPU) out of memory", text):
        return torch.cuda.OutOfMemoryError(text)
    return RuntimeError(text)


def searches(peer: Peer) -> list[tuple[int, int, int]]:
    """(largest, found size, tries) for each of SEARCHES; the size is -1 if the search raised."""
    rows = []
    for largest, limit in SEARCHES:
        step = Step(limit, OOM)
        with quiet():
            try:
                size = peer.search(step, largest)
            except Exception:
                size = -1
        rows.append((largest, size, len(step.sizes)))
    return rows


def load() -> Found:
    """All saved results, in the order of PEERS."""
    saved: Found = {}
    for path in sorted(RESULTS.glob("*.json")):
        saved.update(json.loads(path.read_text(encoding="utf-8")))
    return {peer.name: saved[peer.name] for peer in PEERS if peer.name in saved}


def problems(results: Found) -> list[str]:
    """The properties that a peer has and the reference fixes lack."""
    ours = results.get(Ours.name, {"properties": {}})["properties"]
    return [
        f"a peer holds this and the reference fixes do not: {name}"
        for name, (state, _) in ours.items()
        if state != "pass"
        and any(peer["properties"][name][0] == "pass" for peer in results.values())
    ]


# ---- the tables ----


def render(results: Found) -> str:
    lines = [
        "# Other libraries tested for the same properties",
        "",
        f"`{COMMAND}` writes this page. With generated examples on the CPU, it tests whether the reference",
        "fixes, torch itself, released libraries and five published write-ups of similar fixes have the same",
        "properties. If a peer fails, the table shows the smallest failing example and its outcome. A peer",
        "that is missing from a table has no comparable function.",
        "",
        _versions(results),
        "",
        "## Which handler recognizes which out-of-memory message",
        "",
        _messages(results),
        "",
        "## Batch size found, and number of tries",
        "",
        _searches(results),
    ]
    for part, title in PARTS.items():
        lines += ["", f"## {title}", "", _promises(results, part)]
    return "\n".join(lines) + "\n"


def _versions(results: Found) -> str:
    rows = [
        (name, peer["version"] or "-", peer["torch"], peer["date"])
        for name, peer in results.items()
    ]
    return table(("peer", "version", "torch", "date"), rows)


def _messages(results: Found) -> str:
    judges = {name: peer["recognised"] for name, peer in results.items() if peer["recognised"]}
    rows = []
    for text in OOM_TEXTS:
        first = text.splitlines()[0]
        short = first[:70] + ("..." if len(first) > 70 else "")
        answers = ["yes" if seen[text] else "no" for seen in judges.values()]
        rows.append([f"`{short}`", *answers])
    wrong = [sum(seen[text] for text in OTHER_TEXTS) for seen in judges.values()]
    last = [f"{count or 'none'} recognized" for count in wrong]
    rows.append(
        [f"{len(OTHER_TEXTS)} errors of other kinds, which no handler should recognize", *last]
    )
    return table(("message", *judges), rows)


def _searches(results_of: Found) -> str:
    searchers = {name: peer["searches"] for name, peer in results_of.items() if peer["searches"]}
    rows = []
    for position, (largest, limit) in enumerate(SEARCHES):
        best = f"{limit} in {math.ceil(math.log2(largest)) + 1}"
        answers = [results[position] for results in searchers.values()]
        cells = [f"{size if size >= 0 else 'raises'} in {tries}" for _, size, tries in answers]
        rows.append([f"{largest}, {limit}", best, *cells])
    header = ("largest size tried, largest size that fits", "best result: size, in number of tries")
    return table((*header, *searchers), rows)


def _promises(results_of: Found, part: str) -> str:
    properties = [property for property in PROPERTIES if property.part == part]
    peers = {
        name: peer["properties"]
        for name, peer in results_of.items()
        if any(peer["properties"][property.name][0] != "none" for property in properties)
    }
    rows = []
    for property in properties:
        known = f" ([known]({property.upstream}))" if property.upstream else ""
        cells = [_cell(*results[property.name]) for results in peers.values()]
        rows.append([property.promise + known, *cells])
    return table(("promise", *peers), rows)


def _cell(state: str, detail: str) -> str:
    return "holds" if state == "pass" else f"**fails** {detail[:160]}".replace("|", "\\|")


@click.command()
@click.argument("group")
@click.option("--only", multiple=True, metavar="PEER", help="Peers with this in their name.")
def main(group: str, only: tuple[str, ...]) -> None:
    """Test the installed peers for the properties.

    Saves the results as results/GROUP.json and writes docs/peers.md. Exit status: 0 the reference
    fixes have every property that a peer has, 1 they lack such a property, 2 usage error.
    """
    # Peers that need only torch are tested once, with the newest torch.
    chosen = [
        peer
        for peer in PEERS
        if installed(peer)
        and (peer.package or group == "newest")
        and all(word in peer.name for word in only)
    ]
    if not chosen:
        raise click.UsageError(f"none of these peers is installed here; run `{COMMAND}`")
    path = RESULTS / f"{group}.json"
    saved: Found = {}
    if only and path.is_file():
        saved = json.loads(path.read_text(encoding="utf-8"))

    def keep(name: str, outcome: dict[str, Any]) -> None:
        saved[name] = outcome
        path.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")

    measure(chosen, keep)
    results = load()
    write(TABLE, render(results))
    sys.exit(finish(problems(results)))


if __name__ == "__main__":
    main()
