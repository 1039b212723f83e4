"""Starts the watch in each Python process of a program, as soon as the process imports torch.

`torch-repros exec --watch` puts this folder in front of PYTHONPATH. Python imports this file when
it starts. The sitecustomize of the environment, if there is one, is run too.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "_torch_repros_watching"  # no name that the program may use itself


class Finder(importlib.abc.MetaPathFinder):
    """Finds torch once, and starts the watch when it was imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                start()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def start() -> None:
    """Starts the watch. An error here must not reach the program."""
    try:
        package = HERE.parent
        spec = importlib.util.spec_from_file_location(
            PACKAGE, package / "__init__.py", submodule_search_locations=[str(package)]
        )
        assert spec is not None
        assert spec.loader is not None
        watching = importlib.util.module_from_spec(spec)
        sys.modules[PACKAGE] = watching
        spec.loader.exec_module(watching)
        every_step = os.environ.get("TORCH_REPROS_WATCH_ALL") == "1"
        run = importlib.import_module(f"{PACKAGE}.run")
        run.Run(every_step=every_step, folder=Path(os.environ["TORCH_REPROS_WATCH"])).start()
    except Exception as error:
        print(f"torch-repros: this process is not watched: {error!r}", file=sys.stderr)


def other_sitecustomize() -> None:
    """Runs the sitecustomize that this file hides."""
    path = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if "TORCH_REPROS_WATCH" in os.environ:
    sys.meta_path.insert(0, Finder())
other_sitecustomize()
