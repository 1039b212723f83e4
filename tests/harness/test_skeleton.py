import shutil
import stat

import pytest

from matrix import catalog, causes, checked, checks, skeleton
from tests.harness.helpers import RETURNS, call, plant


@pytest.fixture
def ids(tmp_path):
    path = tmp_path / "ids.txt"
    path.write_text("amp/one\nloss/two\n")
    return path


def test_the_file_has_every_key_and_role_and_says_what_is_to_be_written(root, ids):
    (root / "amp").mkdir()
    path = skeleton.create("amp/two", root, ids)
    text = path.read_text()
    assert ids.read_text() == "amp/one\namp/two\nloss/two\n"
    keys = [key for key in checked.required(catalog.Reproducer) if f"\n# {key} = " not in text]
    assert keys == []
    assert text.endswith(checks.MAIN.format(roles=", ".join(catalog.ROLES)))
    lines = text.splitlines()
    unfilled, problems = catalog.read(root)
    assert unfilled == []
    marked = [number for number, line in enumerate(lines, 1) if "FILL IN" in line]
    assert [int(problem.split(":")[1]) for problem in problems] == marked
    compile(text, path, "exec")


def test_a_new_family_gets_its_folder(root, ids):
    assert skeleton.create("planted/one", root, ids).is_file()


@pytest.mark.parametrize(
    "id", ["one", "amp/One", "amp/one.py", "amp/one/two", "../amp/one", "amp/", "amp/1st", ""]
)
def test_a_bad_name_is_refused(root, ids, id):
    with pytest.raises(skeleton.SkeletonError, match="is not FAMILY/NAME in lower case"):
        skeleton.create(id, root, ids)
    assert list(root.iterdir()) == []


def test_a_name_that_exists_is_refused(root, ids):
    before = ids.read_text()
    (root / "loss").mkdir()
    (root / "loss/three.py").write_text("mine")
    for id in ("amp/one", "loss/three"):
        with pytest.raises(skeleton.SkeletonError, match=f"{id} exists; ids are permanent"):
            skeleton.create(id, root, ids)
    assert (root / "loss/three.py").read_text() == "mine"
    assert ids.read_text() == before


def test_where_the_list_cannot_be_written_nothing_is(root, ids, monkeypatch):
    write = skeleton.write_whole

    def fails(path, text):
        if path == ids:
            raise OSError(28, "No space left on device", str(path))
        write(path, text)

    monkeypatch.setattr(skeleton, "write_whole", fails)
    with pytest.raises(
        skeleton.SkeletonError, match="No space left on device; nothing was written"
    ):
        skeleton.create("planted/one", root, ids)
    assert list(root.iterdir()) == []


def test_where_the_folder_cannot_be_written_the_list_is_as_it_was(root, ids):
    (root / "planted").write_text("a file in the place of the folder")
    before = ids.read_text()
    with pytest.raises(skeleton.SkeletonError, match="nothing was written"):
        skeleton.create("planted/one", root, ids)
    assert ids.read_text() == before
    assert stat.S_ISREG((root / "planted").stat().st_mode)


def test_the_command_refuses_what_it_cannot_do(root):
    result = call("new", "Amp/one")
    assert result.exit_code == 2
    assert "such as amp/unscale_before_scale" in " ".join(result.output.split())
    result = call("new", "amp/unscale_twice")
    assert result.exit_code == 2
    assert "choose another name" in " ".join(result.output.split())
    result = call("--repros", root, "new", "amp/one")
    assert result.exit_code == 2
    assert "cannot be used with --repros" in " ".join(result.output.split())


def test_many_problems_are_summed_up_where_the_file_is_only_left_out(root, ids):
    skeleton.create("planted/one", root, ids)
    skeleton.create("planted/two", root, ids)
    output = call("--repros", root, "list").output
    assert output.count("left out: ") == 6
    assert "more problems; `torch-repros lint` lists all" in output


@pytest.fixture
def rooms(root, tmp_path):
    """The folders (repros, rules, cases), with one reproducer without a rule."""
    rules, cases = tmp_path / "rules", tmp_path / "cases"
    rules.mkdir()
    cases.mkdir()
    plant(root, "amp/one", RETURNS.format("boom"))
    return root, rules, cases


def test_a_rule_has_its_file_its_cases_and_two_keys_under_the_name_of_its_reproducer(rooms):
    repros, rules, cases = rooms
    paths = skeleton.create_rule("amp/one", *rooms)
    assert paths == (rules / "amp/one.py", cases / "amp/one.py", repros / "amp/one.py")
    for path in paths:
        compile(path.read_text(), path, "exec")
        assert "FILL IN" in path.read_text()
    assert "def one(code: Code)" in paths[0].read_text()
    _, problems = catalog.read(repros)
    assert ["rule" in problem or "when" in problem for problem in problems] == [True, True]


@pytest.mark.parametrize(
    ("id", "reason"), [("amp/two", "no reproducer amp/two"), ("../amp/one", "there is no")]
)
def test_a_rule_without_a_reproducer_is_refused(rooms, id, reason):
    with pytest.raises(skeleton.SkeletonError, match=reason):
        skeleton.create_rule(id, *rooms)
    assert [*rooms[1].iterdir(), *rooms[2].iterdir()] == []


def test_a_second_rule_of_a_reproducer_is_refused(rooms):
    paths = skeleton.create_rule("amp/one", *rooms)
    before = [path.read_text() for path in paths]
    with pytest.raises(skeleton.SkeletonError, match=r"one\.py already exists"):
        skeleton.create_rule("amp/one", *rooms)
    assert [path.read_text() for path in paths] == before
    for path in paths[:2]:
        path.unlink()
    with pytest.raises(skeleton.SkeletonError, match="already has a rule"):
        skeleton.create_rule("amp/one", *rooms)


def test_where_one_file_of_a_rule_cannot_be_written_none_is(rooms, monkeypatch):
    repros, rules, cases = rooms
    write, header = skeleton.write_whole, (repros / "amp/one.py").read_text()

    def fails(path, text):
        if path.parent.parent == cases:
            raise OSError(28, "No space left on device", str(path))
        write(path, text)

    monkeypatch.setattr(skeleton, "write_whole", fails)
    with pytest.raises(skeleton.SkeletonError, match="nothing was written"):
        skeleton.create_rule("amp/one", *rooms)
    assert list(rules.rglob("*.py")) == []
    assert (repros / "amp/one.py").read_text() == header


def test_a_message_begins_at_the_end_of_the_file_and_lint_names_what_is_left(tmp_path, monkeypatch):
    file, names = tmp_path / "training.toml", tmp_path / "messages.txt"
    shutil.copy(causes.MESSAGES / causes.TRAINING, file)
    shutil.copy(causes.NAMES, names)
    before = len(causes._read(file)[0])
    skeleton.create_message('a "quoted" message', file, names)
    monkeypatch.setattr(causes, "MESSAGES", tmp_path)
    listed = set(names.read_text().split())
    assert "a-quoted-message" in listed
    problems = causes.problems(catalog.load(), listed)
    lines = file.read_text().splitlines()
    marked = [number for number, line in enumerate(lines, 1) if "FILL IN" in line]
    assert [int(problem.split(":")[1]) for problem in problems] == marked
    assert all("not filled in: cause, check, see" in problem for problem in problems)
    assert 'title = "a \\"quoted\\" message"' in lines
    filled = file.read_text().replace("FILL IN: FAMILY/NAME, or delete", "amp/unscale_twice")
    file.write_text(filled.replace("FILL IN: ", ""))
    groups, _ = causes._read(file)
    assert [group.title for group in groups][before:] == ['a "quoted" message']
    for title, reason in (
        ('a "quoted" message', "add a cause"),
        ("a quoted message", "another title"),
    ):
        with pytest.raises(skeleton.SkeletonError, match=reason):
            skeleton.create_message(title, file, names)


def test_a_message_whose_name_cannot_be_listed_is_not_written(tmp_path, monkeypatch):
    file, names = tmp_path / "training.toml", tmp_path / "messages.txt"
    shutil.copy(causes.MESSAGES / causes.TRAINING, file)
    shutil.copy(causes.NAMES, names)
    write, before = skeleton.write_whole, file.read_bytes()

    def fails(path, text):
        if path == names:
            raise OSError(28, "No space left on device", str(path))
        write(path, text)

    monkeypatch.setattr(skeleton, "write_whole", fails)
    with pytest.raises(skeleton.SkeletonError, match="nothing was written"):
        skeleton.create_message("xyzzy of the plugh", file, names)
    assert file.read_bytes() == before


def test_lint_names_what_a_rule_lacks(monkeypatch, tmp_path):
    ruled = [
        reproducer for reproducer in catalog.load() if reproducer.id == "amp/clip_before_unscale"
    ]
    rules, cases = tmp_path / "rules", tmp_path / "cases"
    for folder in (rules, cases):
        (folder / "amp").mkdir(parents=True)
    (rules / "amp/forgotten.py").write_text("")
    (rules / "amp/clip_before_unscale.py").write_text("x = 1\ny = 'FILL IN: z'\n")
    monkeypatch.setattr(checks, "RULES", rules)
    monkeypatch.setattr(checks, "CASES", cases)
    assert checks._rule(ruled[0]) == [
        f"{rules}/amp/clip_before_unscale.py:2: not filled in: y = 'FILL IN: z'"
    ]
    header, missing = checks._files_of_rules(ruled)
    assert header.startswith(f"{rules}/amp/forgotten.py:1: the header of repros/amp/forgotten.py")
    assert missing.startswith(f"{cases}/amp/clip_before_unscale.py:1: missing: ")
    (cases / "amp/clip_before_unscale.py").write_text("# FILL IN: a near miss\n")
    assert checks._files_of_rules(ruled)[1].endswith(":1: not filled in: # FILL IN: a near miss")
