"""`python -m tests.peers GROUP` judges the peers that are installed here and keeps what it saw; docs/peers.md shows all that was kept."""

from __future__ import annotations

import datetime
import importlib.metadata
import importlib.util
import json
import math
import platform
import re
import sys
from pathlib import Path
from typing import Any

import click
import torch

from tests.peers.adapters import PEERS, Peer
from tests.peers.properties import OOM, PROPERTIES, Step, judge, quiet
from tests.test_memory import OTHERS, TEXTS

RESULTS = Path(__file__).with_name("results")
TABLE = Path(__file__).resolve().parents[2] / "docs" / "peers.md"
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


def installed(peer: type[Peer]) -> bool:
    return (
        not peer.package
        or importlib.util.find_spec({"mosaicml": "composer"}.get(peer.package, peer.package))
        is not None
    )


def recognised(peer: Peer) -> dict[str, bool]:
    def error(text: str) -> RuntimeError:
        # torch raises its own type for what its allocator refuses
        return (
            torch.cuda.OutOfMemoryError(text)
            if re.match(r"(CUDA|HIP|XPU) out of memory", text)
            else RuntimeError(text)
        )

    return {
        text: bool(peer.recognises(error(text))) for text in [text for _, text in TEXTS] + OTHERS
    }


def searches(peer: Peer) -> list[tuple[int, int, int]]:
    """(largest, size found, tries) for each of SEARCHES; size -1 where it raised."""
    rows = []
    for largest, limit in SEARCHES:
        step = Step(limit, OOM)
        with quiet():
            try:
                found = peer.search(step, largest)
            except Exception:
                found = -1
        rows.append((largest, found, len(step.sizes)))
    return rows


def measure(peer: Peer, advance: Any) -> dict[str, Any]:
    results = {}
    for property in PROPERTIES:
        results[f"{property.part}: {property.promise}"] = list(judge(peer, property))
        advance(1)
    return {
        "version": importlib.metadata.version(peer.package) if peer.package else "",
        "torch": torch.__version__.split("+")[0],
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "python": platform.python_version(),
        "properties": results,
        "recognised": recognised(peer) if peer.recognises else None,
        "searches": searches(peer) if peer.search else None,
    }


@click.command()
@click.argument("group")
@click.option("--only", multiple=True, metavar="PEER", help="Only peers with this in their name.")
def main(group: str, only: tuple[str, ...]) -> None:
    """Put the peers installed in this environment under the properties; keep the outcome as results/GROUP.json; write docs/peers.md.

    Exit status 1 when a property that some peer holds is not held by the reference fixes.
    """
    # What needs torch alone is judged once, beside the newest torch.
    chosen = [
        peer
        for peer in PEERS
        if installed(peer)
        and (peer.package or group == "newest")
        and all(word in peer.name for word in only)
    ]
    if not chosen:
        raise click.UsageError("none of the peers is installed here: run `nox -s peers`")
    path = RESULTS / f"{group}.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if only and path.is_file() else {}
    with click.progressbar(
        length=len(chosen) * len(PROPERTIES), label="peers", file=sys.stderr
    ) as bar:
        for peer in chosen:
            kept[peer.name] = measure(peer(), bar.update)
            RESULTS.mkdir(exist_ok=True)
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    found = load()
    TABLE.write_text(render(found), encoding="utf-8")
    click.echo(f"wrote {TABLE.name}")
    behind = ours_behind(found)
    for name in behind:
        click.echo(f"a peer holds this and the reference fixes do not: {name}", err=True)
    sys.exit(1 if behind else 0)


def load() -> dict[str, dict[str, Any]]:
    everything = {
        name: entry
        for path in sorted(RESULTS.glob("*.json"))
        for name, entry in json.loads(path.read_text()).items()
    }
    return {peer.name: everything[peer.name] for peer in PEERS if peer.name in everything}


def ours_behind(found: dict[str, dict[str, Any]]) -> list[str]:
    ours = found.get(PEERS[0].name, {"properties": {}})["properties"]
    return [
        name
        for name, (state, _) in ours.items()
        if state != "pass" and any(e["properties"][name][0] == "pass" for e in found.values())
    ]


def render(found: dict[str, dict[str, Any]]) -> str:
    lines = [
        "# What peers hold",
        "",
        "Written by `nox -s peers`. The reference fixes, torch itself, released libraries and the five write-ups that this corpus started",
        "from, under the same properties, each tried on generated examples on the CPU. Where a peer fails, the smallest example found and",
        "what came of it. A peer that is not in a table has no such part.",
        "",
        "| peer | version | torch | date |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {entry['version'] or '-'} | {entry['torch']} | {entry['date']} |"
        for name, entry in found.items()
    ]
    lines += ["", "## Which handler recognises which out-of-memory message", ""]
    judges = {name: entry["recognised"] for name, entry in found.items() if entry["recognised"]}
    lines += ["| message | " + " | ".join(judges) + " |", "|---|" + "---|" * len(judges)]
    for _, text in TEXTS:
        short = text.splitlines()[0]
        lines.append(
            f"| `{short[:70]}{'...' if len(short) > 70 else ''}` | "
            + " | ".join("yes" if seen[text] else "no" for seen in judges.values())
            + " |"
        )
    others = {name: sum(seen[text] for text in OTHERS) for name, seen in judges.items()}
    lines.append(
        f"| {len(OTHERS)} errors that are none | "
        + " | ".join(
            f"{count} taken for one" if count else "none taken for one" for count in others.values()
        )
        + " |"
    )
    lines += ["", "## Batch size found, in how many tries", ""]
    hunters = {name: entry["searches"] for name, entry in found.items() if entry["searches"]}
    lines += [
        "| up to, of which fit | at best, in at most | " + " | ".join(hunters) + " |",
        "|---|---|" + "---|" * len(hunters),
    ]
    for position, (largest, limit) in enumerate(SEARCHES):
        cells = [
            f"{rows[position][1] if rows[position][1] >= 0 else 'raises'} in {rows[position][2]}"
            for rows in hunters.values()
        ]
        lines.append(
            f"| {largest}, {limit} | {limit} in {math.ceil(math.log2(largest)) + 1} | "
            + " | ".join(cells)
            + " |"
        )
    for part, title in PARTS.items():
        have = {
            name: entry
            for name, entry in found.items()
            if any(
                entry["properties"][f"{p.part}: {p.promise}"][0] != "none"
                for p in PROPERTIES
                if p.part == part
            )
        }
        lines += [
            "",
            f"## {title}",
            "",
            "| promise | " + " | ".join(have) + " |",
            "|---|" + "---|" * len(have),
        ]
        for property in PROPERTIES:
            if property.part != part:
                continue
            promise = property.promise + (
                f" ([known]({property.upstream}))" if property.upstream else ""
            )
            cells = []
            for entry in have.values():
                state, detail = entry["properties"][f"{part}: {property.promise}"]
                cells.append(
                    "holds" if state == "pass" else f"**fails** {detail[:160]}".replace("|", "\\|")
                )
            lines.append(f"| {promise} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
