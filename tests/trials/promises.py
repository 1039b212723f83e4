"""Every sentence in the public docstrings of the fixes, with the tests that check it.

    python -m tests.trials.promises [FAMILY]...       (lists missing entries)

tests/trials/promises/<family>.toml has a table per public name. A key is a sentence of the
docstring, word for word. The value is a list of tests in tests/fixes/test_<family>.py, or the
reason why no test can check the sentence.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import click

from matrix import catalog, toml
from tests.trials.shared import finish

FOLDER = Path(__file__).with_name("promises")
_DOCTEST = re.compile(r"^ *>>> .*?(?=\n\s*\n|\Z)", re.M | re.S)


def sentences(docstring: str) -> list[str]:
    """The sentences of a docstring, without doctests. A list entry starts a new sentence."""
    parsed = []
    parts = re.split(r"\n\s*\n|\n(?=\s*- )|\n(?=\s+\w[\w, ]*: )", _DOCTEST.sub("", docstring))
    for part in parts:
        text = re.sub(r"^(?:(?:Args|Raises|Returns|Yields):|-)\s*", "", " ".join(part.split()))
        parsed += re.split(r"(?<=[.!?])\s+(?=[A-Z`(])", text)
    return [sentence for sentence in parsed if sentence]


def stated(family: str, fixes: Path = catalog.FIXES) -> dict[str, list[str]]:
    """Public name ("Class.method" for a method) -> the sentences of its docstring."""
    tree = ast.parse((fixes / f"{family}.py").read_text(encoding="utf-8"))
    public: list[str] = []
    by_name: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            public = ast.literal_eval(node.value)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in public:
            by_name[node.name] = sentences(ast.get_docstring(node) or "")
            for method in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef) and ast.get_docstring(method):
                    name = f"{node.name}.{method.name}"
                    by_name[name] = sentences(ast.get_docstring(method) or "")
    return by_name


def problems(
    family: str,
    folder: Path = FOLDER,
    fixes: Path = catalog.FIXES,
    tests: Path = catalog.TESTS,
) -> list[str]:
    """Sentences without an entry, entries without a sentence, and tests that do not exist."""
    path = folder / f"{family}.toml"
    if not path.is_file():
        return [f"{path}: missing"]
    listed = toml.loads(path.read_text(encoding="utf-8"))
    source = (tests / f"test_{family}.py").read_text(encoding="utf-8")
    defined = set(re.findall(r"^def (test_\w+)", source, re.M))
    wrong, said = [], stated(family, fixes)
    for name in dict.fromkeys([*said, *listed]):
        entries = listed.get(name, {})
        wrong += [
            f"{path}: {name}: nothing holds: {sentence}"
            for sentence in said.get(name, [])
            if sentence not in entries
        ]
        for sentence, held in entries.items():
            if sentence not in said.get(name, []):
                wrong.append(f"{path}: {name}: the docstring does not say: {sentence}")
            elif not held:
                wrong.append(f"{path}: {name}: neither a test nor a reason: {sentence}")
            elif isinstance(held, list):
                wrong += [f"{path}: {name}: no test {test}" for test in held if test not in defined]
    return wrong


@click.command()
@click.argument("names", metavar="[FAMILY]...", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """List the docstring sentences of the fixes that have neither a test nor a reason.

    Exit status: 0 no entry is missing, 1 an entry is missing, 2 usage error.
    """
    families = catalog.fixes()
    if unknown := sorted(set(names) - set(families)):
        raise click.UsageError(f"no family {', '.join(unknown)}; expected {', '.join(families)}")
    sys.exit(finish([problem for family in names or families for problem in problems(family)]))


if __name__ == "__main__":
    main()
