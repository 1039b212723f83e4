import stat

import pytest

from matrix import catalog, checked, checks, skeleton
from tests.harness.helpers import call


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
    assert "more problems; `torch-repros lint` names all" in output
