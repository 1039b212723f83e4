"""The static site: `nox -s page`, or `python -m matrix page`. Works from file://, asks nobody for anything, reads without script."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from .. import __version__, catalog, torches
from ..evidence import grid, records
from . import explain

TEMPLATES = Path(__file__).with_name("templates")
SITE = catalog.ROOT / "site"
SIGNS = {state: sign.replace("*", "").strip() for state, sign in grid.SIGNS.items()}  # without Markdown's stars


def build(folder: Path = SITE) -> list[Path]:
    """Writes the site anew and returns its files."""
    entries, axis, cells = catalog.load(), torches.load(), records.load()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["code"] = lambda text: Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))
    bugs = [bug(entry, axis, cells) for entry in entries]
    states = {state for bug in bugs for row in bug["rows"].values() for state in row}
    dates = sorted(found.date for cell in cells for found in cell.entries.values())
    environment.globals.update(
        minors=[torch.minor for torch in axis],
        signs=SIGNS,
        meaning=grid.MEANING,
        shown=[state for state in grid.SIGNS if state in states],
        version=__version__,
        measured=len(dates),
        oldest=dates[0],
        newest=dates[-1],
    )
    shutil.rmtree(folder, ignore_errors=True)
    pages = {
        "index.html": environment.get_template("index.html").render(
            root="",
            bugs=bugs,
            families=list(dict.fromkeys(entry.family for entry in entries)),
            devices=catalog.DEVICES,
            kinds=[kind for kind in catalog.KINDS if any(entry.kind == kind for entry in entries)],
            data=data(entries),
        )
    }
    for one in bugs:
        pages[f"bugs/{one['id']}.html"] = environment.get_template("bug.html").render(root="../../", bug=one)
    for name in ("style.css", "page.js"):
        pages[name] = (TEMPLATES / name).read_text(encoding="utf-8")
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]


def data(entries: list[catalog.Reproducer]) -> Markup:
    """What the page's script knows: the patterns of the headers and the lists of causes."""
    keys = ("id", "title", "kind", "symptom", "messages", "keywords", "fix")
    text = json.dumps(
        {
            "entries": [{key: getattr(entry, key) for key in keys} for entry in entries],
            "causes": explain.causes(),
            "torch_version": explain.TORCH_VERSION,
        },
        separators=(",", ":"),
    )
    # inside <script> only the end of it could do harm
    return Markup(text.replace("</", "<\\/"))


def bug(entry: catalog.Reproducer, axis: list[torches.Torch], cells: list[records.Cell]) -> dict[str, Any]:
    """What the templates show of one reproducer."""
    measured = [(cell, found) for device in entry.devices for cell, found in records.fresh(cells, entry, device)]
    shown = [found.text for _, found in measured if found.verdict == "reproduced"]
    module, _, name = entry.fix.partition(".")
    return {
        "id": entry.id,
        "family": entry.family,
        "title": entry.title,
        "kind": entry.kind,
        "retired": entry.retired,
        "code": cite.program(entry, next((d for d in entry.devices if entry.affected[d] != "never"), entry.devices[0])),
        "control": entry.function("control"),
        "popular_fix": entry.function("popular_fix"),
        "cause": [" ".join(paragraph.split()) for paragraph in entry.doc.split("\n\n")],
        "module": module if name else "",
        "function": name,
        "sources": entry.sources,
        "stand_in": entry.stand_in,
        "seen": shown[-1] if shown else "",
        "rows": {device: [grid.state(entry, device, torch.minor, cells) for torch in axis] for device in entry.devices},
        "evidence": _evidence(measured),
    }


def _evidence(measured: list[tuple[records.Cell, records.Entry]]) -> list[dict[str, str]]:
    """One line for all records that say the same."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for cell, found in measured:
        runs = f"{found.agreeing} of {found.runs}"
        lines.setdefault((cell.device, found.verdict, runs, found.date, found.text or found.detail), []).append(cell.torch)
    keys = ("device", "verdict", "runs", "date", "text")
    return [{**dict(zip(keys, line)), "torch": ", ".join(torch)} for line, torch in lines.items()]
