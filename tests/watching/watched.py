"""Watches one role of a reproducer, in a process of its own, and prints the findings as JSON.

    python watched.py ID ROLE [DEVICE]

Processes that the role starts are watched too. A reproducer that takes no step shows less than a
training program does, so the role of programs/ID.py takes its place where there is one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def main(id: str, role: str, device: str = "cpu") -> None:
    import torch

    from matrix.watching import findings
    from matrix.watching.run import Run

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["TORCH_REPROS_WATCH"] = name
        startup = ROOT / "matrix" / "watching" / "startup"
        os.environ["PYTHONPATH"] = os.pathsep.join([str(startup), os.environ.get("PYTHONPATH", "")])
        error = ""
        with Run(folder=folder, stream=open(os.devnull, "w")):
            own = ROOT / "tests" / "watching" / "programs" / f"{id}.py"
            path = own if own.is_file() else ROOT / "repros" / f"{id}.py"
            spec = importlib.util.spec_from_file_location("watched_reproducer", path)
            module = importlib.util.module_from_spec(spec)
            sys.modules["watched_reproducer"] = module  # for processes that import it again
            try:
                spec.loader.exec_module(module)
                getattr(module, role)(device)
            except Exception as raised:
                error = repr(raised)
        found, failed = findings.merged(folder)
    print()
    print(json.dumps({"found": [asdict(each) for each in found], "failed": failed, "error": error}))


if __name__ == "__main__":
    main(*sys.argv[1:])
