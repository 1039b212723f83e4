"""Checks the documents for contributors against the project."""

from __future__ import annotations

import ast
import re

from matrix import toml, verdicts
from matrix.catalog import ROOT, families, fixes

MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))


def modules_on_the_map() -> set[str]:
    modules, folders = set(), []
    for line in MAP.split("```")[1].splitlines():
        if entry := re.match(r"( *)([\w./, ]+?) +# |( *)(\w+/)$", line):
            indent, names = (entry[1], entry[2]) if entry[2] else (entry[3], entry[4])
            folders[len(indent) // 2 :] = [names.rstrip("/") if names.endswith("/") else ""]
            modules |= {"/".join([*folders[:-1], name]) for name in re.findall(r"\w+\.py", names)}
    return modules


def test_every_module_is_on_the_map_and_nothing_else() -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "matrix").rglob("*.py")}
    rooms = {name for name in modules if name.endswith("/__init__.py")} | {"matrix/__main__.py"}
    rooms |= {name for name in modules if "/rules/" in name or "/checks/" in name}  # per family
    listed = {name for name in modules_on_the_map() if name.startswith("matrix/")}
    assert listed - rooms == modules - rooms


def test_every_action_is_pinned_by_commit_with_its_version() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    uses = re.findall(r"(?m)^[ -]*uses: (?!\./)(.*)", text)
    assert uses
    assert [
        action for action in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action)
    ] == []


def test_what_is_run_before_a_pull_request_is_what_ci_runs() -> None:
    """Only site-tests runs page.js; without it, a broken page would be noticed too late."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (before,) = re.findall(r"^nox -s (.+?) +# before you send", text, re.M)
    run = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert before.split() == ["lint", "tests-cpu", "site-tests"]
    assert set(before.split()) == {*re.findall(r"nox -s ([\w-]+)", run)}


def test_every_session_of_nox_has_a_summary_of_one_line() -> None:
    """`nox -l` shows only the first line."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    summaries = {
        node.name: (ast.get_docstring(node) or "").partition("\n")[0]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("nox.session" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    assert summaries
    assert [name for name, text in summaries.items() if not re.search(r"[.`]$", text)] == []


DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *ROOT.glob("docs/*.md")]


def test_every_relative_link_leads_to_a_file() -> None:
    for name in DOCUMENTS:
        path = ROOT / name
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{name}: {link}"


def test_the_readme_works_on_a_package_index_and_its_links_lead_to_files() -> None:
    """Relative links are dead on a package index, so all links start with pyproject's address."""
    address = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    home = address["project"]["urls"]["Repository"]
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    for link in links:
        target = re.fullmatch(rf"{re.escape(home)}/(?:blob|tree)/main/(.+)", link)
        assert target, f"{link}: not below {home}"
        assert (ROOT / target[1]).exists(), link


def test_every_page_of_docs_is_linked() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    linked = {
        link for text in texts.values() for link in re.findall(r"\]\([^)#]*?([\w-]+\.md)", text)
    }
    assert {path.name for path in ROOT.glob("docs/*.md")} - linked == set()


def test_the_readme_explains_every_verdict_as_the_grid_does() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| verdict | |")[2]
    rows = re.findall(r"^\| (\w+) \| (.+) \|$", table.partition("\n\n")[0], re.M)
    assert rows == [(row.name, row.meaning) for row in verdicts.ROWS]


def test_the_readme_names_every_family_and_its_fix() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [f"repros/{family}" for family in families() if f"/repros/{family})" not in text]
    missing += [
        f"reference_fixes/{fix}.py" for fix in fixes() if f"/reference_fixes/{fix}.py)" not in text
    ]
    assert missing == [], "README.md does not name them"
