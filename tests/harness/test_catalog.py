import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import plant

from matrix import catalog

CODE = "def reproduce(device):\n    return None\n"


def mistakes(root):
    with pytest.raises(catalog.CatalogError) as error:
        catalog.load(root)
    return str(error.value).splitlines()


def test_a_header_is_read(root):
    plant(
        root,
        "amp/one",
        CODE + "\n\ndef popular_fix(device):\n    return None\n",
        messages='[\n#     "a",\n#     "b",\n# ]',
        requires='">=2.3"',
        affected='{ cpu = "<2.11", cuda = "never" }',
        stand_in='{ cpu = "a meta tensor" }',
        timeout="2.5",
    )
    (entry,) = catalog.load(root)
    assert (entry.id, entry.family, entry.title) == ("amp/one", "amp", "planted")
    assert (entry.messages, entry.timeout, entry.memory) == (("a", "b"), 2.5, 1024)
    assert entry.roles == ("reproduce", "control", "popular_fix")
    assert entry.doc == "Planted."


@pytest.mark.parametrize(
    ("version", "cpu", "cuda"),
    [
        ("2.10.0+cu128", "reproduced", "absent"),
        ("2.11.0", "absent", "absent"),
        ("2.11.0.dev20260101+cpu", "absent", "absent"),  # a nightly counts as the release it leads to
        ("2.11.0a0+gitabc", "absent", "absent"),
        ("1.13.1", "reproduced", "absent"),
    ],
)
def test_affected_is_read_as_pep_440(root, version, cpu, cuda):
    plant(root, "amp/one", CODE, affected='{ cpu = "<2.11", cuda = "never" }')
    (entry,) = catalog.load(root)
    assert (entry.expects("cpu", version), entry.expects("cuda", version)) == (cpu, cuda)


def test_requirements_give_a_reason(root):
    plant(root, "amp/one", CODE, requires='">=2.3"', platform='"linux"')
    (entry,) = catalog.load(root)
    assert entry.unavailable_reason("2.2.2", "linux") == "needs torch >=2.3; this is 2.2.2"
    assert entry.unavailable_reason("2.3.0", "darwin") == "needs linux; this is darwin"
    assert entry.unavailable_reason("2.3.0", "linux") is None


@pytest.mark.parametrize(
    ("header", "line", "text"),
    [
        ({"kind": '"slient"'}, 7, "kind: 'slient' is not one of error, silent"),
        ({"kind": None}, 1, "kind: missing"),
        ({"titel": '"x"'}, 12, "titel: unknown key; expected one of title, kind"),
        ({"symptom": '"("'}, 8, "symptom: '(' is not a regular expression"),
        ({"messages": '["["]'}, 12, "messages: '[' is not a regular expression"),
        ({"messages": '"text"'}, 12, "messages: 'text' is not a list of strings"),
        ({"title": "3"}, 6, "title: 3 is not a string"),
        ({"title": '" "'}, 6, "title: ' ' is not a string"),
        ({"timeout": "0"}, 12, "timeout: 0 is not a positive number"),
        ({"timeout": "true"}, 12, "timeout: True is not a positive number"),
        ({"sources": '["file:///x"]'}, 9, "sources: 'file:///x' is not a public https:// link"),
        ({"sources": "[]"}, 9, "sources: empty"),
        ({"fix": '"amp"'}, 10, "fix: 'amp' is neither 'module.function' nor 'upgrade'"),
        ({"affected": '{ tpu = ">=2" }'}, 11, "affected: 'tpu' is not a device"),
        ({"affected": '{ cpu = "2.3 and up" }'}, 11, "affected: cpu = '2.3 and up' is neither a PEP 440 specifier nor 'never'"),
        ({"affected": '{ cpu = "" }'}, 11, "affected: {'cpu': ''} is not a table of strings"),
        ({"affected": "{}"}, 11, "affected: empty"),
        ({"requires": '"never"'}, 12, "requires: 'never' is not a PEP 440 specifier"),
        ({"stand_in": '{ mps = "x" }'}, 12, "stand_in: 'mps' is not named in affected"),
    ],
)
def test_a_bad_header_is_named_with_file_line_and_key(root, header, line, text):
    path = plant(root, "amp/one", CODE, **header)
    (message,) = mistakes(root)
    assert message.startswith(f"{path}:{line}: {text}")


def test_every_mistake_of_every_file_is_listed_at_once(root):
    plant(root, "amp/one", "def control(device):\n    return None\n", kind='"x"')
    (root / "amp/two.py").write_text("print()\n")
    (root / "amp/three.py").write_text("# /// script\n# [tool.repro\n# ///\n")
    assert [line.split(": ", 1)[1] for line in mistakes(root)] == [
        "kind: 'x' is not one of error, silent, crash, hang, leak, oom",
        "no function reproduce(device)",
        mistakes(root)[2].split(": ", 1)[1],
        "no header; expected a block '# /// script' ... '# ///' as in PEP 723",
    ]
    assert "is not TOML" in mistakes(root)[2]


def test_an_empty_folder_is_a_mistake(root):
    assert mistakes(root) == [f"{root}: no reproducers here (expected <family>/<name>.py)"]


@given(st.text())
def test_no_text_in_a_header_crashes_the_catalog(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("repros") / "one.py"
    block = "".join(f"# {line}\n" for line in text.splitlines())
    path.write_text(f"# /// script\n{block}# ///\n", encoding="utf-8")
    entry, wrong = catalog.parse(path, "amp/one")
    assert entry is None
    assert wrong


def test_selection_is_by_id_or_family_and_leaves_retired_ones_out(root):
    for id in ("amp/one", "amp/two", "rnn/one"):
        plant(root, id, CODE)
    plant(root, "rnn/old", CODE, retired='"never was a bug"')
    entries = catalog.load(root)
    assert [entry.id for entry in catalog.select(entries, ())] == ["amp/one", "amp/two", "rnn/one"]
    assert [entry.id for entry in catalog.select(entries, ("rnn",))] == ["rnn/old", "rnn/one"]
    assert [entry.id for entry in catalog.select(entries, ("amp/two", "rnn/old"))] == ["amp/two", "rnn/old"]
    with pytest.raises(KeyError, match="amp/three"):
        catalog.select(entries, ("amp/three",))
