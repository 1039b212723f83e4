"""Every way to run the project. `nox -l` lists the sessions; arguments after `--` go to the tool that a session runs."""

from __future__ import annotations

import shutil
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

Torch = dict[str, str]  # an entry of matrix/torches.toml
TORCHES: list[Torch] = nox.project.load_toml(Path(__file__).parent / "matrix" / "torches.toml")["torch"]
NEWEST = TORCHES[-1]


def python_for(torch: Torch) -> str:
    """This interpreter where the torch has wheels for it, else the newest one it has wheels for."""
    wanted = SpecifierSet(torch["python"])
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return here if here in wanted else next(f"3.{minor}" for minor in range(20, 7, -1) if f"3.{minor}" in wanted)


def install(session: nox.Session, torch: Torch, backend: str) -> None:
    """The project and this torch: PyTorch's own build for the backend where its index can be reached, else the default index's."""
    beside = ["numpy" + torch.get("numpy", ""), "setuptools" + torch.get("setuptools", "")]
    version = "import importlib.metadata as m; print(*[d.version for d in m.distributions(name='torch')])"
    if str(session.run("python", "-c", version, silent=True)).split("+")[0].strip() == torch["version"]:
        session.install("-e", ".[test]", *beside)
        return
    requirement = f"torch=={torch['version']}"
    if session.venv_backend == "uv":
        try:
            session.install("--torch-backend", backend, "-e", ".[test]", *beside, requirement, silent=True, env={"UV_HTTP_RETRIES": "0"})
            return
        except CommandFailed:
            session.log(
                f"no {backend} build of {requirement} to be had from PyTorch's index; taking the default one (on Linux a large CUDA build)"
            )
    session.install("-e", ".[test]", *beside, requirement)


def require(session: nox.Session, device: str) -> None:
    """Ends red before gigabytes are installed for a device that cannot be here. What is left is for the probe to say."""
    if device == "mps" and sys.platform != "darwin":
        session.error(f"no usable mps here: it needs macOS, this is {sys.platform}")
    drivers = [shutil.which("nvidia-smi"), *(path for path in ("/dev/nvidiactl", "/dev/kfd") if Path(path).exists())]
    if device == "cuda" and not any(drivers):
        session.error("no usable cuda here: no driver (neither nvidia-smi nor /dev/nvidiactl nor /dev/kfd)")


def run_tests(session: nox.Session, torch: Torch, device: str, *paths: str) -> None:
    require(session, device)
    install(session, torch, backend="cpu" if device == "cpu" else "auto")
    session.run("python", "-m", "pytest", "-n", "auto", "--dist", "loadgroup", "--device", device, *paths, *session.posargs)


def run_repros(session: nox.Session, torch: Torch, device: str | None = None) -> None:
    require(session, device or "cpu")
    install(session, torch, backend="cpu" if device == "cpu" else "auto")
    session.run("python", "-m", "matrix", "run", *(["--device", device] if device else []), *session.posargs)


@nox.session(python=python_for(NEWEST))
def repros(session: nox.Session) -> None:
    """The main job: every reproducer on the newest torch, on every device that works here."""
    run_repros(session, NEWEST)


@nox.session(name="tests-cpu", python=python_for(NEWEST))
def tests_cpu(session: nox.Session) -> None:
    """All tests on the newest torch, on the CPU."""
    run_tests(session, NEWEST, "cpu")


@nox.session(name="tests-cuda", python=python_for(NEWEST))
def tests_cuda(session: nox.Session) -> None:
    """All tests on the newest torch, on CUDA; red with the reason where there is none."""
    run_tests(session, NEWEST, "cuda")


@nox.session(name="tests-mps", python=python_for(NEWEST))
def tests_mps(session: nox.Session) -> None:
    """All tests on the newest torch, on an Apple GPU; red with the reason where there is none."""
    run_tests(session, NEWEST, "mps")


# Without the tests of the machine, which do not depend on the torch under test, and of the reproducers, which have their own session.
FAMILIES = [f"tests/test_{path.stem}.py" for path in sorted((Path(__file__).parent / "reference_fixes").glob("*.py"))] + [
    "tests/test_docs.py"
]


def add_version(torch: Torch, device: str) -> None:
    """tests-cpu-2.4, repros-cpu-2.4 and their like, tagged matrix-cpu: `nox -t matrix-cpu` runs them for every release."""
    minor = ".".join(torch["version"].split(".")[:2])
    options = {"python": python_for(torch), "tags": [f"matrix-{device}"], "default": False}

    @nox.session(name=f"tests-{device}-{minor}", **options)  # type: ignore[call-overload]
    def tests(session: nox.Session) -> None:
        run_tests(session, torch, device, *FAMILIES)

    @nox.session(name=f"repros-{device}-{minor}", **options)  # type: ignore[call-overload]
    def repros(session: nox.Session) -> None:
        run_repros(session, torch, device)

    tests.__doc__ = f"The families' tests on torch {torch['version']}, on {device}."
    repros.__doc__ = f"Every reproducer on torch {torch['version']}, on {device}."


for device in ("cpu", "cuda", "mps"):
    for torch in TORCHES:
        add_version(torch, device)


@nox.session(python=python_for(NEWEST))
def bench(session: nox.Session) -> None:
    """What the machine costs, and what the fixes cost beside what they replace: `nox -s bench -- --device cuda`."""
    device = next((value for option, value in zip(session.posargs, session.posargs[1:]) if option == "--device"), "cpu")
    require(session, device)
    install(session, NEWEST, backend="cpu" if device == "cpu" else "auto")
    session.run("python", "-m", "matrix.bench")
    session.run("python", "-m", "tests.speed", *session.posargs)


@nox.session
def record(session: nox.Session) -> None:
    """Measure every torch and keep the records: `nox -s record -- --torch 2.4 2.5`."""
    session.install("-e", ".[record]")
    session.run("python", "-m", "matrix", "record", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, formatting and types; headers, ids, fixes and records; and whether the grid is what the records say."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("cffconvert", "--validate", silent=True)
    session.run("python", "-m", "matrix", "lint")
    session.run("python", "-m", "matrix", "grid", "--check")


@nox.session(python=python_for(NEWEST))
def mutants(session: nox.Session) -> None:
    """Change the fixes in every way a tool knows and count what their tests notice: `nox -s mutants -- --minutes 20`, again to go on."""
    install(session, NEWEST, backend="cpu")
    session.install("-e", ".[mutants]")
    session.run("python", "-m", "matrix.mutants", *session.posargs)


# mosaicml pins a torch of its own
PEERS = {"newest": ["accelerate", "lightning", "toma", "torchtnt", "transformers"], "mosaicml": ["mosaicml"]}


@nox.session(python="3.11")
@nox.parametrize("group", list(PEERS))
def peers(session: nox.Session, group: str) -> None:
    """Put what people use today under the properties of the fixes; writes docs/peers.md."""
    if group == "newest":
        install(session, NEWEST, backend="cpu")
    session.install("-e", ".[test]", "setuptools<81", *PEERS[group])  # older releases still ask for pkg_resources
    session.run("python", "-W", "ignore", "-m", "tests.peers", group, *session.posargs)


@nox.session
def page(session: nox.Session) -> None:
    """Build the static site into site/; open site/index.html."""
    session.install("-e", ".[page]")
    session.run("python", "-m", "matrix", "page", *session.posargs)


@nox.session(name="page-tests")
def page_tests(session: nox.Session) -> None:
    """The site in a real headless Chromium: Debian's where there is one, else Playwright's own."""
    session.install("-e", ".[page-tests]")
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        session.run("playwright", "install", "--with-deps", "chromium")
    # the conftest above it needs torch
    session.run("python", "-m", "pytest", "--confcutdir", "tests/page", "tests/page", *session.posargs)
