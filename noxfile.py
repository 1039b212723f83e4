"""Every way to run the project. `nox -l` lists the sessions; arguments after `--` go to the tool that a session runs."""

from __future__ import annotations

import sys
from pathlib import Path

import nox
from nox.command import CommandFailed
from packaging.specifiers import SpecifierSet

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = True  # a missing interpreter would otherwise be a skip, and a skip is green
nox.options.sessions = ["repros"]

TORCHES = nox.project.load_toml(Path(__file__).parent / "matrix" / "torches.toml")["torch"]
NEWEST = TORCHES[-1]


def python_for(torch: dict[str, str]) -> str:
    """This interpreter where the torch has wheels for it, else the newest one it has wheels for."""
    wanted = SpecifierSet(torch["python"])
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return here if here in wanted else next(f"3.{minor}" for minor in range(20, 7, -1) if f"3.{minor}" in wanted)


def install(session: nox.Session, torch: dict[str, str], backend: str) -> None:
    """The project and this torch: PyTorch's own build for the backend where its index can be reached, else the default index's."""
    session.install("-e", ".[test]", "numpy" + torch.get("numpy", ""), "setuptools" + torch.get("setuptools", ""))
    found = session.run(
        "python", "-c", "import importlib.metadata as m; print(*[d.version for d in m.distributions(name='torch')])", silent=True
    )
    if str(found).split("+")[0].strip() == torch["version"]:
        return
    requirement = f"torch=={torch['version']}"
    if session.venv_backend == "uv":
        try:
            session.install("--torch-backend", backend, requirement, silent=True, env={"UV_HTTP_RETRIES": "0"})
            return
        except CommandFailed:
            session.log(
                f"no {backend} build of {requirement} to be had from PyTorch's index; taking the default one (on Linux a large CUDA build)"
            )
    session.install(requirement)


@nox.session(python=python_for(NEWEST))
def repros(session: nox.Session) -> None:
    """The main job: every reproducer on the newest torch, on every device that works here."""
    install(session, NEWEST, backend="auto")
    session.run("python", "-m", "matrix", "run", *session.posargs)


def run_tests(session: nox.Session, device: str) -> None:
    install(session, NEWEST, backend="cpu" if device == "cpu" else "auto")
    session.run("python", "-m", "pytest", "-n", "auto", "--dist", "loadgroup", "--device", device, *session.posargs)


@nox.session(name="tests-cpu", python=python_for(NEWEST))
def tests_cpu(session: nox.Session) -> None:
    """All tests on the newest torch, on the CPU."""
    run_tests(session, "cpu")


@nox.session(name="tests-cuda", python=python_for(NEWEST))
def tests_cuda(session: nox.Session) -> None:
    """All tests on the newest torch, on CUDA; red with the reason where there is none."""
    run_tests(session, "cuda")


@nox.session(name="tests-mps", python=python_for(NEWEST))
def tests_mps(session: nox.Session) -> None:
    """All tests on the newest torch, on an Apple GPU; red with the reason where there is none."""
    run_tests(session, "mps")


@nox.session(python=python_for(NEWEST))
def bench(session: nox.Session) -> None:
    """What the machine costs: the whole corpus, the overhead of one run, and a fresh interpreter per run beside it."""
    install(session, NEWEST, backend="cpu")
    session.run("python", "-m", "matrix.bench", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, formatting and types."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
