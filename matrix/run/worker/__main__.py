"""Starts the worker or, with --one, runs a single role and exits."""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
from importlib import import_module
from pathlib import Path

NAME = "torch_repros_worker"  # a name that no reproducer imports


def _load() -> None:
    """Makes this folder a package, so that its modules do not shadow standard library modules."""
    folder = Path(__file__).resolve().parent
    sys.path[:] = [path for path in sys.path if not path or Path(path).resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


def _main() -> None:
    _load()
    system = import_module(f"{NAME}.system")
    if sys.argv[1] == "--one":
        job = json.loads(sys.argv[2])
        if system.LINUX:
            system.end_with_parent(job["parent"], signal.SIGKILL)
        import_module(f"{NAME}.role").finish(job, sys.argv[3])
    else:
        import_module(f"{NAME}.server").serve(fork=system.FORK and sys.argv[1] == "fork")


if __name__ == "__main__":
    _main()
