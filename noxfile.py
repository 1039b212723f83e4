"""The nox sessions of the project.

`nox -l` lists the sessions. A session passes arguments after `--` to the tool that it runs.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent))  # nox itself does not add this folder
from matrix import devices, torches
from matrix.torches import Torch

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_existing_virtualenvs = True
# By default, nox skips a session whose interpreter is missing, and succeeds.
nox.options.error_on_missing_interpreters = True
nox.options.sessions = ["repros"]

TORCHES = torches.load()
NEWEST = TORCHES[-1]


def installed(session: nox.Session) -> str:
    """The installed version of torch without its local part; "" if torch is not installed."""
    program = (
        "import importlib.metadata as m; print(*[d.version for d in m.distributions(name='torch')])"
    )
    return str(session.run("python", "-c", program, silent=True)).split("+")[0].strip()


def install(session: nox.Session, torch: Torch, backend: str) -> None:
    """Installs the project and this release of torch.

    Uses the build from PyTorch's index if this index can be reached, else the default index.
    """
    project = ["-e", ".[test]", *torch.companions]
    if installed(session) == torch.version:
        session.install(*project)
        return
    requirement = f"torch=={torch.version}"
    session.log(f"installing {requirement}, some 200 MB to 3 GB: this can take minutes")
    if session.venv_backend == "uv":
        own_build = ["--torch-backend", backend, *project, requirement]
        # Silent and allowed to fail: if the index is unreachable, uv prints two screens of errors.
        session.install(
            *own_build, silent=True, success_codes=[0, 1, 2], env={"UV_HTTP_RETRIES": "0"}
        )
        if installed(session) == torch.version:
            return
        session.log(
            f"PyTorch's index has no {backend} build or cannot be reached; "
            "installing the default index's, on Linux a CUDA build"
        )
    session.install(*project, requirement)


def require(session: nox.Session, device: str) -> None:
    """Fails before gigabytes are installed if this machine cannot have the device.

    If the machine may have the device, a later probe determines whether the device works.
    """
    if reason := devices.missing(device):
        session.error(reason)


def run_tests(session: nox.Session, torch: Torch, device: str, *paths: str) -> None:
    require(session, device)
    install(session, torch, devices.BY_NAME[device].wheels)
    session.run(
        "python",
        "-m",
        "pytest",
        "-n",
        "auto",
        "--dist",
        "loadgroup",
        "--device",
        device,
        *paths,
        *session.posargs,
    )


def run_repros(session: nox.Session, torch: Torch, device: str | None = None) -> None:
    if device:
        require(session, device)
    install(session, torch, devices.BY_NAME[device].wheels if device else "auto")
    session.run("torch-repros", "run", *(["--device", device] if device else []), *session.posargs)


@nox.session(python=NEWEST.interpreter())
def repros(session: nox.Session) -> None:
    """Run every reproducer on the newest torch and on every device that works here."""
    run_repros(session, NEWEST)


def add_device(device: str) -> None:
    """Adds the session tests-cpu, or the corresponding session for another device."""

    @nox.session(name=f"tests-{device}", python=NEWEST.interpreter())
    def tests(session: nox.Session) -> None:
        run_tests(session, NEWEST, device)

    tests.__doc__ = f"All tests on the newest torch, on {device}; fails if it is not usable."


def add_release(torch: Torch, device: str) -> None:
    """Adds the sessions of one release and device, such as tests-cpu-2.4 and repros-cpu-2.4.

    The sessions have a tag: `nox -t matrix-cpu` runs them for every release.
    """
    options = {"python": torch.interpreter(), "tags": [f"matrix-{device}"], "default": False}

    @nox.session(name=f"tests-{device}-{torch.minor}", **options)  # type: ignore[call-overload]
    def tests(session: nox.Session) -> None:
        # The harness does not depend on torch, and the reproducers have their own session.
        paths = ["tests/fixes", *(["tests/trials/test_advice.py"] if device == "cpu" else [])]
        run_tests(session, torch, device, *paths)

    @nox.session(name=f"repros-{device}-{torch.minor}", **options)  # type: ignore[call-overload]
    def repros(session: nox.Session) -> None:
        run_repros(session, torch, device)

    tests.__doc__ = f"The tests of the fixes on torch {torch.version}, on {device}."
    repros.__doc__ = f"Every reproducer on torch {torch.version}, on {device}."


for device in devices.DEVICES:
    add_device(device)
    for torch in TORCHES:
        add_release(torch, device)


def install_for_device(session: nox.Session) -> None:
    """Installs the newest torch for the device named in the arguments: `-- --device cuda`."""
    pairs = zip(session.posargs, session.posargs[1:])
    device = next((value for option, value in pairs if option == "--device"), devices.DEVICES[0])
    require(session, device)
    install(session, NEWEST, devices.BY_NAME[device].wheels)


@nox.session(python=NEWEST.interpreter())
def bench(session: nox.Session) -> None:
    """Time the fixes and measure the harness's overhead: `nox -s bench -- --device cuda`."""
    install_for_device(session)
    session.run("python", "-m", "tests.trials.overhead")
    session.run("python", "-m", "tests.trials.speed", *session.posargs)


@nox.session(python=NEWEST.interpreter())
def texts(session: nox.Session) -> None:
    """Collect the output of failures on a device: `nox -s texts -- --device cuda`."""
    install_for_device(session)
    session.run("python", "-m", "tests.trials.texts", *session.posargs)


@nox.session(python=NEWEST.interpreter())
def watch(session: nox.Session) -> None:
    """Write docs/watch.md: which failures the watch names, and its findings in controls."""
    install_for_device(session)
    session.run("python", "-m", "tests.trials.watching")


@nox.session(name="next-release", python=NEWEST.interpreter())
def next_release(session: nox.Session) -> None:
    """Test the harness in a clone whose torches.toml lists two more releases."""
    session.install("-e", ".[test]")
    copy = Path(session.create_tmp(), "project").absolute()
    session.env.pop("TMPDIR", None)  # set by create_tmp(); tests need folders outside a repository
    shutil.rmtree(copy, ignore_errors=True)
    session.run("git", "clone", "--quiet", ".", str(copy), external=True)
    major, minor = map(int, NEWEST.minor.split("."))
    with (copy / "matrix/torches.toml").open("a", encoding="utf-8") as file:
        for version in (f"{major}.{minor + 1}.0", f"{major + 1}.0.0"):
            file.write(f'\n[[torch]]\nversion = "{version}"\npython = "{NEWEST.python}"\n')
    session.chdir(copy)
    # these tests take minutes, and their results do not depend on the releases
    slow = "not megabyte and not killed_ten_times and not marked_is_found and not found_no_more"
    command = ("python", "-m", "pytest", "-n", "auto", "-k", slow, "tests/harness")
    session.run(*command, *session.posargs)


@nox.session(python="3.10", venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """Test the harness with the lowest versions that pyproject.toml allows, including Python's."""
    session.install("--resolution", "lowest-direct", "-e", ".[test]")
    session.run("python", "-m", "pytest", "-n", "auto", "tests/harness", *session.posargs)


@nox.session
def record(session: nox.Session) -> None:
    """Measure all or the given releases and save the records: `nox -s record -- 2.4 2.5`."""
    session.install("-e", ".[record]")
    session.run("torch-repros", "record", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, headers, ids, fixes, records, and that generated tables are current."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("cffconvert", "--validate", silent=True)
    session.run("torch-repros", "lint")
    session.run("torch-repros", "grid", "--check")


@nox.session(python=NEWEST.interpreter())
def mutants(session: nox.Session) -> None:
    """Mutate the fixes and count the killed mutants: `nox -s mutants -- amp --minutes 20`."""
    install(session, NEWEST, backend="cpu")
    session.install("-e", ".[mutants]")
    session.run("python", "-m", "tests.trials.mutants", *session.posargs)


@nox.session(name="bad-inputs", python=NEWEST.interpreter())
def bad_inputs(session: nox.Session) -> None:
    """Test every public function with unexpected input; writes docs/bad-inputs.md."""
    install(session, NEWEST, backend="cpu")
    session.run("python", "-m", "tests.trials.bad_inputs", *session.posargs)


@nox.session(python=NEWEST.interpreter())
def advice(session: nox.Session) -> None:
    """Run all printed advice inside trainers, in every setting: `nox -s advice -- amp`."""
    install(session, NEWEST, backend="cpu")
    session.run("python", "-m", "tests.trials.advice", *session.posargs)


@nox.session(python=NEWEST.interpreter())
def differences(session: nox.Session) -> None:
    """Search for bugs in torch by comparison: `nox -s differences -- long_sum --examples 500`."""
    install(session, NEWEST, backend="cpu")
    session.run("python", "-W", "ignore", "-m", "tests.trials.differences", *session.posargs)


@nox.session
def demand(session: nox.Session) -> None:
    """Count right answers to public questions; writes docs/ (`-- --verbose` for details)."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.trials.demand", *session.posargs)


@nox.session
def outside(session: nox.Session) -> None:
    """Count the covered cases of published lists; writes docs/ (`-- --verbose` for details)."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.trials.outside", *session.posargs)


@nox.session(name="scan-labels")
def scan_labels(session: nox.Session) -> None:
    """Count true findings of scan in public code; writes docs/ (`-- --verbose` for details)."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.trials.scan_labels", *session.posargs)


@nox.session(name="scan-recall")
def scan_recall(session: nox.Session) -> None:
    """Count what scan finds in scripts that an expert has read; writes docs/."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.trials.scan_recall", *session.posargs)


# mosaicml pins a version of torch
PEERS = {
    "newest": ["accelerate", "lightning", "toma", "torchtnt", "transformers"],
    "mosaicml": ["mosaicml"],
}


@nox.session(python="3.11")
@nox.parametrize("group", list(PEERS))
def peers(session: nox.Session, group: str) -> None:
    """Test other libraries for the properties of the fixes; writes docs/peers.md."""
    if group == "newest":
        install(session, NEWEST, backend="cpu")
    pkg_resources = "setuptools<81"  # older releases of the peers still import it
    session.install("-e", ".[test]", pkg_resources, *PEERS[group])
    session.run("python", "-W", "ignore", "-m", "tests.trials.peers", group, *session.posargs)


@nox.session(python=NEWEST.interpreter())
def hosts(session: nox.Session) -> None:
    """Use the fixes and the watch inside released trainers; writes docs/hosts.md.

    `nox -s hosts -- captum` uses the fixes inside the named trainers only.
    """
    install(session, NEWEST, backend="cpu")
    session.install("-r", "tests/trials/hosts/requirements.txt")
    session.run("python", "-m", "tests.trials.hosts", *session.posargs)
    if not session.posargs:
        session.run("python", "-m", "pytest", "tests/watching/test_hosts.py")


@nox.session
def site(session: nox.Session) -> None:
    """Build the website into site/: `nox -s site -- --url https://example.org/` to publish it."""
    session.install("-e", ".[site]")
    session.run("torch-repros", "site", *session.posargs)


@nox.session(name="site-tests")
def site_tests(session: nox.Session) -> None:
    """Test the website in a headless Chromium, from the system or from Playwright."""
    session.install("-e", ".[site-tests]")
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        session.run("playwright", "install", "--with-deps", "chromium")
    session.run("python", "-m", "pytest", "-n", "auto", "tests/page", *session.posargs)


@nox.session
def lighthouse(session: nox.Session) -> None:
    """Rate the website with Lighthouse; needs node and Chrome (found by CHROME_PATH, if set)."""
    if not shutil.which("npx"):
        session.error("Lighthouse needs node, which brings npx: https://nodejs.org")
    session.install("-e", ".[site]")
    folder = session.create_tmp()
    session.run("torch-repros", "site", "--into", f"{folder}/site")
    session.run("python", "tests/page/lighthouse.py", f"{folder}/site")
