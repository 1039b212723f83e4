import ast
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix import catalog, checked
from tests.harness.helpers import plant

CODE = "def reproduce(device):\n    return None\n"


def problems(root):
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
    (reproducer,) = catalog.load(root)
    assert (reproducer.id, reproducer.family, reproducer.title) == ("amp/one", "amp", "planted")
    assert (reproducer.messages, reproducer.timeout, reproducer.memory) == (("a", "b"), 2.5, 1024)
    assert reproducer.roles == ("reproduce", "control", "popular_fix")
    assert reproducer.doc == "Planted."


@pytest.mark.parametrize(
    ("version", "cpu", "cuda"),
    [
        ("2.10.0+cu128", "reproduced", "absent"),
        ("2.11.0", "absent", "absent"),
        (
            "2.11.0.dev20260101+cpu",
            "absent",
            "absent",
        ),  # a nightly counts as the next release
        ("2.11.0a0+gitabc", "absent", "absent"),
        ("1.13.1", "reproduced", "absent"),
    ],
)
def test_affected_is_read_as_pep_440(root, version, cpu, cuda):
    plant(root, "amp/one", CODE, affected='{ cpu = "<2.11", cuda = "never" }')
    (reproducer,) = catalog.load(root)
    assert (reproducer.expects("cpu", version), reproducer.expects("cuda", version)) == (cpu, cuda)


def test_requirements_give_a_reason(root):
    plant(root, "amp/one", CODE, requires='">=2.3"', platform='"linux"')
    (reproducer,) = catalog.load(root)
    assert (
        reproducer.unavailable_reason("2.2.2", "linux", "cpu") == "needs torch >=2.3; this is 2.2.2"
    )
    assert reproducer.unavailable_reason("2.3.0", "darwin", "cpu") == "needs linux; this is darwin"
    assert reproducer.unavailable_reason("2.3.0", "linux", "cpu") is None


@pytest.mark.parametrize(
    ("header", "line", "text"),
    [
        ({"kind": '"slient"'}, 7, "kind: 'slient' is not one of error, silent"),
        ({"kind": None}, 1, "kind: missing"),
        ({"titel": '"x"'}, 14, "titel: unknown key; expected one of title, kind"),
        ({"symptom": '"("'}, 8, "symptom: '(' is not a regular expression"),
        ({"messages": '["["]'}, 14, "messages: '[' is not a regular expression"),
        ({"messages": '"text"'}, 14, "messages: 'text' is not a list of strings"),
        ({"title": "3"}, 6, "title: 3 is not a string"),
        ({"title": '" "'}, 6, "title: ' ' is blank"),
        (
            {"retired": '"why"', "rule": '"note"'},
            14,
            "retired: `rule` is still in the header; delete the key",
        ),
        ({"timeout": "0"}, 14, "timeout: 0 is not a number of seconds from 0.001 to 600"),
        ({"timeout": "true"}, 14, "timeout: True is not a number of seconds"),
        ({"timeout": "inf"}, 14, "timeout: inf is not a number of seconds"),
        ({"timeout": "nan"}, 14, "timeout: nan is not a number of seconds"),
        ({"memory": "0.5"}, 14, "memory: 0.5 is not a whole number of MiB from 1 to 16384"),
        ({"memory": "1e30"}, 14, "memory: 1e+30 is not a whole number of MiB"),
        ({"fix": None}, 1, "fix: missing; only lines under `right` may replace it"),
        ({"origin": '"numpy"'}, 9, "origin: 'numpy' is not one of torch, design, usage"),
        ({"origin": None}, 1, "origin: missing"),
        (
            {"origin": '"torch"', "reports": "[]"},
            9,
            'origin: a bug of PyTorch has `reports`, or upstream = "unreported"',
        ),
        (
            {"reports": None},
            9,
            "origin: neither `reports` nor `documents` shows this failure",
        ),
        (
            {"reports": '["https://github.com/pytorch/pytorch/pull/7"]'},
            10,
            "reports: 'https://github.com/pytorch/pytorch/pull/7' is not a thread",
        ),
        (
            {"reports": '["https://docs.pytorch.org/docs/stable/amp.html"]'},
            10,
            "reports: 'https://docs.pytorch.org/docs/stable/amp.html' is not a thread",
        ),
        (
            {"documents": '["file:///x"]'},
            14,
            "documents: 'file:///x' is not a public https:// link",
        ),
        ({"fixed_by": '"165068"'}, 14, "fixed_by: '165068' is not of the form 'pytorch#165068'"),
        ({"upstream": '"yes"'}, 14, "upstream: 'yes' is not 'unreported'"),
        (
            {"upstream": '"unreported"'},
            14,
            "upstream: only a bug of PyTorch can be unreported there",
        ),
        (
            {
                "origin": '"torch"',
                "reports": '["https://github.com/pytorch/pytorch/issues/7"]',
                "upstream": '"unreported"',
            },
            14,
            "upstream: it is reported: https://github.com/pytorch/pytorch/issues/7",
        ),
        ({"wrong": '"' + "a\\n" * 11 + '"'}, 11, "wrong: 11 lines; at most 10"),
        ({"fix": '"amp"'}, 12, "fix: 'amp' is neither 'module.function' nor 'upgrade'"),
        ({"affected": '{ tpu = ">=2" }'}, 13, "affected: 'tpu' is not a device"),
        (
            {"affected": '{ cpu = "2.3 and up" }'},
            13,
            "affected: cpu = '2.3 and up' is neither a PEP 440 specifier nor 'never'",
        ),
        ({"affected": '{ cpu = "" }'}, 13, "affected: {'cpu': ''} is not a table of strings"),
        ({"affected": "{}"}, 13, "affected: empty"),
        ({"requires": '"never"'}, 14, "requires: 'never' is not a PEP 440 specifier"),
        ({"stand_in": '{ mps = "x" }'}, 14, "stand_in: 'mps' is not named in affected"),
    ],
)
def test_a_bad_header_is_named_with_file_line_and_key(root, header, line, text):
    path = plant(root, "amp/one", CODE, **header)
    (message,) = problems(root)
    assert message.startswith(f"{path}:{line}: {text}")


def test_every_problem_of_every_file_is_listed_at_once(root):
    plant(root, "amp/one", "def control(device):\n    return None\n", kind='"x"')
    (root / "amp/two.py").write_text("print()\n")
    (root / "amp/three.py").write_text("# /// script\n# [tool.repro\n# ///\n")
    assert [line.split(": ", 1)[1] for line in problems(root)] == [
        "kind: 'x' is not one of error, silent, crash, hang, leak, oom",
        "no function reproduce(device)",
        problems(root)[2].split(": ", 1)[1],
        "no header; expected a block '# /// script' ... '# ///' as in PEP 723",
    ]
    assert "is not TOML" in problems(root)[2]


def test_an_empty_folder_is_a_problem(root):
    assert problems(root) == [f"{root}: no reproducers here (expected <family>/<name>.py)"]


@given(st.text())
def test_no_text_in_a_header_crashes_the_catalog(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("repros") / "one.py"
    block = "".join(f"# {line}\n" for line in text.splitlines())
    path.write_text(f"# /// script\n{block}# ///\n", encoding="utf-8")
    reproducer, wrong = catalog.parse(path, "amp/one")
    assert reproducer is None
    assert wrong


def test_a_retired_reproducer_has_no_rule():
    reproducer = catalog.ruled(catalog.load())[0]
    assert catalog.ruled([reproducer]) == [reproducer]
    assert catalog.ruled([replace(reproducer, retired="why")]) == []


def test_selection_is_by_id_or_family_and_leaves_retired_ones_out(root):
    for id in ("amp/one", "amp/two", "rnn/one"):
        plant(root, id, CODE)
    plant(root, "rnn/old", CODE, retired='"never was a bug"')
    reproducers = catalog.load(root)
    assert [reproducer.id for reproducer in catalog.select(reproducers, ())] == [
        "amp/one",
        "amp/two",
        "rnn/one",
    ]
    assert [reproducer.id for reproducer in catalog.select(reproducers, ("rnn",))] == [
        "rnn/old",
        "rnn/one",
    ]
    assert [
        reproducer.id for reproducer in catalog.select(reproducers, ("amp/two", "rnn/old"))
    ] == ["amp/two", "rnn/old"]
    with pytest.raises(KeyError, match="amp/three"):
        catalog.select(reproducers, ("amp/three",))


UNREADABLE = {  # name -> (a function that creates amp/bad.py, the problem)
    "latin-1": (lambda path: path.write_bytes(b"# caf\xe9\n"), "1: cannot be read: not UTF-8"),
    "dangling link": (lambda path: path.symlink_to("nowhere"), "1: cannot be read: No such file"),
    "link to itself": (lambda path: path.symlink_to(path), "1: cannot be read: Too many levels"),
    "folder": (lambda path: path.mkdir(), "1: cannot be read: Is a directory"),
    "tool is a number": (
        lambda path: path.write_text("# /// script\n# tool = 3\n# ///\n"),
        "1: the header has no table [tool.repro]",
    ),
    "tool.repro is a number": (
        lambda path: path.write_text("# /// script\n# tool.repro = 3\n# ///\n"),
        "1: the header has no table [tool.repro]",
    ),
}


@pytest.mark.skipif(sys.platform == "win32", reason="makes links and reads Linux's words")
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_loaded(root, name):
    plant(root, "amp/good", CODE)
    make, text = UNREADABLE[name]
    make(root / "amp/bad.py")
    reproducers, wrong = catalog.read(root)
    assert [reproducer.id for reproducer in reproducers] == ["amp/good"]
    (problem,) = wrong
    assert problem.startswith(f"{root / 'amp/bad.py'}:{text}")


@pytest.mark.parametrize(
    "code", ["def reproduce(device):\n    return (\n", "def reproduce(device):\n    '\0'\n"]
)
def test_a_body_that_is_no_python_can_still_be_listed_searched_and_shown(root, code):
    plant(root, "amp/one", code)
    (reproducer,) = catalog.load(root)
    assert (reproducer.doc, reproducer.function("control")) == ("Planted.", "")
    assert reproducer.roles == ("reproduce", "control")
    assert reproducer.hash


def test_a_relative_folder_gives_absolute_paths(root, monkeypatch):
    plant(root, "amp/one", CODE)
    monkeypatch.chdir(root.parent)
    (reproducer,) = catalog.load(Path(root.name))
    assert reproducer.path == root / "amp/one.py"


def test_a_new_header_key_is_one_field_of_the_dataclass():
    assert checked.required(catalog.Reproducer) == [
        "title",
        "kind",
        "symptom",
        "origin",
        "wrong",
        "affected",
    ]
    (reproducer, *_) = catalog.load()
    assert set(reproducer.header) == set(catalog.HEADER_KEYS)


def test_each_file_is_parsed_once_however_much_is_asked_of_it(root, monkeypatch):
    plant(root, "amp/one", CODE)
    (reproducer,) = catalog.load(root)
    parsed = []
    parse = catalog.ast.parse
    monkeypatch.setattr(catalog.ast, "parse", lambda source: parsed.append(source) or parse(source))
    for _ in range(3):
        asked = (reproducer.hash, reproducer.doc, reproducer.body, reproducer.function("control"))
        assert all(asked)
    assert len(parsed) == 1


def plain(reproducer):
    """The docstring and the body according to Python's own parser."""
    tree = ast.parse(reproducer.source)
    return ast.get_docstring(tree), "\n".join(
        reproducer.source.splitlines()[tree.body[0].end_lineno :]
    )


def test_docstring_and_body_are_what_pythons_parser_sees():
    for reproducer in catalog.load():
        assert (reproducer.doc, reproducer.body) == plain(reproducer), reproducer.id


@pytest.mark.parametrize(
    "docstring",
    [
        '"""One."""',
        '"""One.\n\nTwo "quoted" words.\n"""',
        '"""Ends in a quote: "a" """',
        '"One."',
        "'''One.'''",
        'r"""A \\d."""',
        '"""A \\n B."""',
        '"""One.""" "Two."',
        '"""One."""  # words',
    ],
)
def test_any_way_to_write_a_docstring_is_understood(root, docstring):
    path = plant(root, "amp/one", CODE)
    path.write_text(path.read_text().replace('"""Planted."""', docstring))
    (reproducer,) = catalog.load(root)
    assert (reproducer.doc, reproducer.body) == plain(reproducer)


def test_code_under_main_does_not_change_the_hash(root):
    path = plant(root, "amp/one", CODE)
    before = catalog.load(root)[0].hash
    path.write_text(path.read_text() + "    print()\n")
    assert catalog.load(root)[0].hash == before
    path.write_text(path.read_text().replace("def control", "TEXT = 1\n\n\ndef control"))
    assert catalog.load(root)[0].hash != before


PIECES = [
    *"ab1 ,|{}()[]*+?.^$\\<>!-=:",
    *(".{0,200}?", ".{0,9}", r"\d{1,3}", r"\(", "\\\\"),
    *("(?:", "(?!", "(?=", "[^", "[a-z", "0-9]", r"\S", r"\b", "{1,3}", "{0,12}", "{2}", ")?"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_a_pattern_that_is_not_compiled_is_a_regex(pattern):
    if catalog._SIMPLE.fullmatch(pattern):
        re.compile(pattern)  # raises re.error
