import json
import re

import pytest
from helpers import RETURNS, call, plant
from recorded import measurement, record

pytest.importorskip("jinja2", reason="the extra `site` brings it")
from matrix import catalog
from matrix.answers import site


@pytest.fixture
def built(root, tmp_path):
    """build(**header) -> the text of a page's file."""

    def build(name="index.html", **header):
        plant(root, "amp/one", RETURNS.format("boom"), **header)
        reproducers = catalog.load(root)
        records = [record("2.4.1", {"amp/one": measurement(hash=reproducers[0].hash)})]
        site.build(tmp_path / "site", reproducers, records)
        return (tmp_path / "site" / name).read_text(encoding="utf-8")

    return build


def test_a_folder_that_no_build_wrote_is_refused_and_left_alone(root, tmp_path):
    folder = tmp_path / "mine"
    (folder / "src").mkdir(parents=True)
    for name in ("page.js", "src/app.txt"):
        (folder / name).write_text("mine")
    plant(root, "amp/one", RETURNS.format("boom"))
    result = call("--repros", root, "site", "--into", folder)
    assert result.exit_code == 2
    assert "is not empty and was not built by this tool; choose another folder" in " ".join(
        result.output.split()
    )
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        "app.txt",
        "page.js",
    ]


def test_a_rebuild_deletes_what_the_last_one_wrote_and_nothing_else(root, tmp_path):
    folder = tmp_path / "site"
    plant(root, "amp/one", RETURNS.format("boom"))
    plant(root, "amp/two", RETURNS.format("boom"))
    assert call("--repros", root, "site", "--into", folder).exit_code == 0
    (folder / "CNAME").write_text("example.org")
    (root / "amp/two.py").unlink()
    assert call("--repros", root, "site", "--into", folder).exit_code == 0
    assert (folder / "CNAME").read_text() == "example.org"
    assert sorted(path.name for path in (folder / "bugs/amp").iterdir()) == ["one.html"]


def test_an_interrupted_build_leaves_pages_that_the_next_one_knows_for_its_own(
    root, tmp_path, monkeypatch
):
    folder = tmp_path / "site"
    for name in ("one", "two"):
        plant(root, f"amp/{name}", RETURNS.format("boom"))
    pages = site.pages

    def interrupted(*arguments):
        yield from list(pages(*arguments))[:3]
        raise KeyboardInterrupt

    def build():
        site.build(folder, catalog.load(root), [])

    monkeypatch.setattr(site, "pages", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build()
    monkeypatch.undo()
    (root / "amp/two.py").unlink()
    build()
    assert [path.name for path in (folder / "bugs/amp").iterdir()] == ["one.html"]
    monkeypatch.setattr(site, "pages", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build()
    assert (folder / "page.js").is_file()  # the last whole site is still there


@pytest.mark.parametrize("name", ["../precious.txt", "{outside}"])
def test_a_manifest_that_points_elsewhere_deletes_nothing_there(root, tmp_path, name):
    plant(root, "amp/one", RETURNS.format("boom"))
    folder, outside = tmp_path / "site", tmp_path / "precious.txt"
    outside.write_text("mine")
    folder.mkdir()
    (folder / site.MANIFEST).write_text(f"{name.format(outside=outside)}\n")
    site.build(folder, catalog.load(root), [])
    assert outside.read_text() == "mine"


def test_no_text_of_a_header_ends_or_hides_the_page_s_data(built):
    page = built(title='"<!-- <script> </script>"')
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert "<" not in data
    assert json.loads(data)["entries"][0]["title"] == "<!-- <script> </script>"


def test_code_between_backticks_is_marked_up_and_the_rest_is_escaped(built):
    page = built("bugs/amp/one.html", title='"`a < b` is <i>wrong</i>"')
    assert "<code>a &lt; b</code> is &lt;i&gt;wrong&lt;/i&gt;" in page
    assert "&lt;code&gt;" not in page


def test_the_site_shows_the_reproducers_that_were_asked_for(root, tmp_path):
    plant(root, "mine/only", RETURNS.format("boom"))
    call("--repros", root, "site", "--into", tmp_path / "site")
    assert [path.name for path in (tmp_path / "site/bugs").iterdir()] == ["mine"]


def test_every_cell_names_its_release_and_its_state(built):
    page = built("bugs/amp/one.html")
    assert '<td data-minor="2.4" class="bad" title="reproduced">R</td>' in page
    assert '<td data-minor="2.5" class="quiet" title="unknown">?</td>' in page


def test_evidence_of_other_code_is_not_shown(root, tmp_path):
    plant(root, "amp/one", RETURNS.format("boom"))
    old = record("2.4.1", {"amp/one": measurement(text="of old code")})
    site.build(tmp_path / "site", catalog.load(root), [old])
    assert "of old code" not in (tmp_path / "site/bugs/amp/one.html").read_text()


def test_measurements_that_agree_share_a_line_and_the_newest_text_is_shown(root):
    plant(root, "amp/one", RETURNS.format("boom"))
    (reproducer,) = catalog.load(root)
    measured = [
        (record(torch), measurement(text=text, hash=reproducer.hash))
        for torch, text in (("2.4.1", "old"), ("2.5.1", "old"), ("2.6.0", "new"))
    ]
    found = site.evidence(reproducer, measured)
    assert found["seen"] == "new"
    assert [(line["torch"], line["text"]) for line in found["evidence"]] == [
        ("2.4.1, 2.5.1", "old"),
        ("2.6.0", "new"),
    ]
