"""Follows CONTRIBUTING.md in a clone, from a new reproducer to a catalog that `lint` accepts."""

import re
import subprocess
import sys

import pytest

from matrix import catalog

pytestmark = pytest.mark.skipif(
    not (catalog.ROOT / ".git").exists(), reason="copies what git has of this clone"
)
ID = "numerics/std_of_one_sample"
FILLED_IN = {  # the start of a line -> its replacement; "" deletes the line
    "# title": '# title = "The standard deviation of one sample is NaN"',
    "# kind": '# kind = "silent"',
    "# symptom": '# symptom = "std is nan"',
    "# messages": "",
    "# elsewhere": "",
    "# origin": '# origin = "design"',
    "# reports": "",
    "# documents": '# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.std.html"]',
    "# upstream": "",
    "# FILL IN: what a user wrote": "# std = x.std()",
    "# FILL IN: what to write": "# std = x.std(unbiased=False)",
    "# fix": "",
    "# choice": "",
    "# requires": "",
    "# affected": '# affected = { cpu = "never" }',
    '"""FILL IN: what a user sees': '"""The standard deviation of a batch of one sample is NaN.',
    "FILL IN: the cause": "It divides by the number of samples less one (docs: torch.std).",
    "(pytorch#112583)": "",
    "def check": "def check(std):",
    '    """FILL IN': """\
    if std != 0:
        return f"std is {std}\"""",
    "    return check(None)  # FILL IN: check what": """\
    x = torch.ones(1, device=device)
    std = x.std()
    return check(std)""",
    "    return check(None)  # FILL IN: check the same": """\
    x = torch.ones(1, device=device)
    std = x.std(unbiased=False)
    return check(std)""",
}


def filled_in(text):
    text = re.sub(r"def (?:right|messages|popular_fix)\(.*?\n\n\n", "", text, flags=re.S)
    text = re.sub(r"# use = '''\n.*?# '''\n", "", text, flags=re.S)
    lines = []
    for line in text.replace(", right, messages, popular_fix)", ")").splitlines():
        starts = [start for start in FILLED_IN if line.startswith(start)]
        if not starts:
            lines.append(line)
        elif new := FILLED_IN[starts[0]]:
            lines.append(new)
    return "\n".join(lines) + "\n"


def test_a_reproducer_goes_from_new_to_lint_as_contributing_says(clone):
    def matrix(*arguments, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "matrix", *arguments], cwd=clone, capture_output=True, text=True
        )
        assert done.returncode == status, (arguments, done.stdout + done.stderr)
        return done.stdout

    guide = (clone / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for command in re.findall(r"torch-repros [^\n`]*", matrix("new", ID)):
        assert command.replace(ID, "amp/my_new_one").replace("--python PATH", "") in guide
    path = clone / f"repros/{ID}.py"
    problems = matrix("lint", status=1)
    assert problems.count("not filled in: ") == path.read_text().count("FILL IN")
    path.write_text(filled_in(path.read_text()))

    alone = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert (alone.returncode, alone.stdout) == (1, "reproduce: std is nan\ncontrol: no symptom\n")
    assert "reproduced, but its header says absent" in matrix("run", ID, status=1)
    # the header is still wrong, so this command exits with 1
    matrix("record", "--only", ID, "--python", sys.executable, "--repeat", "1", status=1)
    matrix("headers", "--write")
    assert 'affected = { cpu = ">=' in path.read_text()
    assert "README.md" in matrix("grid")
    matrix("lint")
    matrix("grid", "--check")
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True
    )
    files = {line[3:] for line in changed.stdout.splitlines()}
    record = {file for file in files if file.startswith("matrix/records/")}
    assert len(record) == 1
    assert files - record == {f"repros/{ID}.py", "matrix/ids.txt", "README.md", "docs/grid.md"}
