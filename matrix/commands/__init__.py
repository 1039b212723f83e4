"""The command line. Each command parses its arguments, calls one function and prints the result.

The command is installed as `torch-repros`. In a clone, `python -m matrix` also works.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import click

from .. import __version__, catalog
from . import options


@click.group(
    cls=options.Sections,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--repros",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=catalog.REPROS,
    help="Another folder of reproducers, laid out as <family>/<name>.py.",
)
@click.version_option(__version__)
@click.pass_context
def main(context: click.Context, repros: Path) -> None:
    """Find the cause of a PyTorch training failure, and the fix.

    \b
    torch-repros explain crash.log              explain an error, and show its fix
    torch-repros exec -- python train.py        run a program, explain its failure
    torch-repros search "loss stays constant"   find a silent failure
    torch-repros diagnose                       list checks for a vague symptom
    torch-repros scan src                       find failures in code
    torch-repros run --python PATH              run all reproducers on your torch
    torch-repros vendor amp --into DIR          copy a fix into your project

    The --help of each command lists examples and exit statuses; 2 always means a usage error. In a
    terminal, text is wrapped to the terminal's width. In a pipe, lines are never wrapped or
    colored.

    To complete ids, families, devices and releases with Tab, add this line to ~/.bashrc (or to
    ~/.zshrc, with zsh_source):

    \b
    eval "$(_TORCH_REPROS_COMPLETE=bash_source torch-repros)"
    """
    if sys.stdout is None and context.invoked_subcommand != "exec":
        options.say("Error: standard output is closed", err=True)
        sys.exit(options.UNUSABLE)
    context.obj = options.State(repros)
    # With the default threshold of 700 objects, the collector would traverse all records
    # repeatedly.
    gc.set_threshold(100_000)
    if os.environ.get("NO_COLOR"):
        context.color = False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Pipes on Windows do not use UTF-8, some terminals support only ASCII, and file names
            # vary.
            stream.reconfigure(errors="backslashreplace")


main.add("Diagnose", "answering", "explain", "exec", "search")
main.add("Diagnose", "diagnosing", "diagnose")
main.add("Diagnose", "listing", "show", "list")
main.add("Diagnose", "answering", "compare", "cite")
main.add("Diagnose", "scanning", "scan")
main.add("Run", "running", "run")
main.add("Use the fixes", "vendoring", "vendor", "vendored")
main.add("Measure", "measuring", "record", "bisect", "merge", "torches")
main.add(main.IN_A_CLONE, "checking", "new", "headers", "fixes", "lint", "grid", "site")
