import html
import json
import re
from xml.etree import ElementTree

import pytest
from packaging.version import Version

from tests.harness.helpers import RETURNS, call, plant
from tests.harness.recorded import measurement, record

pytest.importorskip("jinja2", reason="the extra `site` brings it")
pytest.importorskip("pygments", reason="the extra `site` brings it")
from matrix import catalog, causes
from matrix.evidence import records
from matrix.explain import text
from matrix.site import build as site
from matrix.site import exports, failure, markup

PAGE = ["one.html", "one.json", "one.py"]


@pytest.fixture
def built(root, tmp_path):
    """Returns a function: built(**header) builds the site and returns the text of a page."""

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


def test_a_retired_reproducer_has_a_page_and_is_in_no_list(root, tmp_path):
    plant(root, "amp/live", RETURNS.format("boom"))
    plant(root, "amp/gone", RETURNS.format("boom"), retired='"why"')
    assert call("--repros", root, "site", "--into", tmp_path / "site").exit_code == 0
    for name in ("index.html", "data.js", "grid.json"):
        text = (tmp_path / "site" / name).read_text(encoding="utf-8")
        assert "amp/live" in text, name
        assert "amp/gone" not in text, name
    page = (tmp_path / "site/bugs/amp/gone.html").read_text(encoding="utf-8")
    assert "retired: why" in page


def test_a_rebuild_deletes_what_the_last_one_wrote_and_nothing_else(root, tmp_path):
    folder = tmp_path / "site"
    plant(root, "amp/one", RETURNS.format("boom"))
    plant(root, "amp/two", RETURNS.format("boom"))
    assert call("--repros", root, "site", "--into", folder).exit_code == 0
    (folder / "CNAME").write_text("example.org")
    (root / "amp/two.py").unlink()
    assert call("--repros", root, "site", "--into", folder).exit_code == 0
    assert (folder / "CNAME").read_text() == "example.org"
    assert sorted(path.name for path in (folder / "bugs/amp").iterdir()) == PAGE


def test_an_interrupted_build_leaves_pages_that_the_next_one_knows_for_its_own(
    root, tmp_path, monkeypatch
):
    folder = tmp_path / "site"
    for name in ("one", "two"):
        plant(root, f"amp/{name}", RETURNS.format("boom"))
    pages = site.pages

    def interrupted(*arguments):
        yield from list(pages(*arguments))[:8]  # all pages of the two reproducers
        raise KeyboardInterrupt

    def build():
        site.build(folder, catalog.load(root), [])

    monkeypatch.setattr(site, "pages", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build()
    monkeypatch.undo()
    (root / "amp/two.py").unlink()
    build()
    assert sorted(path.name for path in (folder / "bugs/amp").iterdir()) == PAGE
    monkeypatch.setattr(site, "pages", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build()
    assert (folder / "page.js").is_file()  # the last complete site still exists


@pytest.mark.parametrize("name", ["../precious.txt", "{outside}"])
def test_a_manifest_that_points_elsewhere_deletes_nothing_there(root, tmp_path, name):
    plant(root, "amp/one", RETURNS.format("boom"))
    folder, outside = tmp_path / "site", tmp_path / "precious.txt"
    outside.write_text("mine")
    folder.mkdir()
    (folder / site.MANIFEST).write_text(f"{name.format(outside=outside)}\n")
    site.build(folder, catalog.load(root), [])
    assert outside.read_text() == "mine"


def test_the_data_of_the_page_are_a_script_that_holds_any_text(built):
    script = built("data.js", title='"<!-- <script> </script>"')
    (data,) = re.findall(r"^const DATA = (.*);$", script)
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


def test_measurements_that_agree_share_a_line_and_the_newest_text_comes_first(root):
    plant(root, "amp/one", RETURNS.format("boom"), messages="['its new text', 'a third text']")
    (reproducer,) = catalog.load(root)
    measured = [
        (record(torch), measurement(text=text, hash=reproducer.hash))
        for torch, text in (("2.4.1", "old"), ("2.5.1", "old"), ("2.6.0", "its new text"))
    ]
    found = failure.evidence(reproducer, measured)
    assert found["seen"] == [("2.6, cpu", "its new text"), ("2.4, 2.5, cpu", "old")]
    assert found["others"] == ["a third text"]  # text that is in no record
    assert [(line["torch"], line["text"]) for line in found["evidence"]] == [
        ("2.4.1, 2.5.1", "old"),
        ("2.6.0", "its new text"),
    ]


def test_a_message_is_text_on_its_page_and_in_its_description(built):
    header = {"messages": "['tensor \\d{1,9} of .{1,200}? has no such thing']"}
    page = built("bugs/amp/one.html", **header)
    assert "<code>tensor N of … has no such thing</code>" in page
    assert '<meta name="description" content="tensor N of … has no such thing / planted.' in page


def test_why_is_the_whole_docstring_whatever_its_paragraphs_hold(root, built):
    path = plant(root, "amp/one", RETURNS.format("boom"))
    path.write_text(path.read_text().replace("Planted.", "It is seen.\n\nOne.\nTwo (pytorch#7)."))
    (reproducer,) = catalog.load(root)
    found = failure.Failure(reproducer, text.Measured.load([]), [])
    assert found.why == ["It is seen.", "One. Two (pytorch#7)."]


def test_what_a_docstring_calls_is_code_and_what_it_cites_is_a_link():
    assert markup.prose("step() <b> (pytorch#7, a-b/c.d#8, torch.nn.Linear(), sgd#9, it's)") == (
        "<code>step()</code> &lt;b&gt; "
        '(<a href="https://github.com/pytorch/pytorch/issues/7">pytorch#7</a>, '
        '<a href="https://github.com/a-b/c.d/issues/8">a-b/c.d#8</a>, '
        "<code>torch.nn.Linear()</code>, sgd#9, it&#39;s)"
    )


def test_code_is_coloured_and_escaped_and_otherwise_as_it_was():
    code = "\n  if a < 1:  # so\n      f('</code>')"
    html = markup.python(code)
    assert '<span class="k">if</span>' in html
    assert (
        re.sub(r"<[^>]*>", "", html).replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")
        == code
    )


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("https://github.com/pytorch/pytorch/issues/112583", "pytorch#112583"),
        ("https://github.com/pytorch/pytorch/pull/165068#issuecomment-1", "pytorch#165068"),
        ("https://github.com/Lightning-AI/x.y/discussions/5", "Lightning-AI/x.y#5"),
        ("https://discuss.pytorch.org/t/a-title/93475", "discuss.pytorch.org/t/a-title/93475"),
    ],
)
def test_a_report_is_named_by_its_number(link, name):
    assert markup.thread(link) == name


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The published site."""
    folder = tmp_path_factory.mktemp("site")
    site.build(folder, catalog.load(), records.load(), "https://example.org/repros")
    return folder


@pytest.mark.xdist_group("whole")
def test_every_file_of_data_is_as_its_schema_says(whole):
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `test` brings it")
    schema = json.loads((whole / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    checked = jsonschema.Draft7Validator(schema)
    one = json.loads((whole / "bugs/amp/unscale_twice.json").read_text(encoding="utf-8"))
    wrong = [{**one, "kind": "no kind"}, {**one, "more": 1}, {"format": 1}]
    assert not any(map(checked.is_valid, wrong))
    for path in whole.rglob("*.json"):
        if path.name not in ("schema.json", "grid.json"):
            checked.validate(json.loads(path.read_text(encoding="utf-8")))
    grid = json.loads((whole / "grid.json").read_text(encoding="utf-8"))
    cells = grid["verdicts"]
    # 13,000 cells take a minute, so only one cell of each kind is checked
    distinct = {json.dumps({**cell, "id": "a/b"}): cell for cell in cells}
    checked.validate({**grid, "verdicts": list(distinct.values())})


@pytest.mark.xdist_group("whole")
def test_the_data_of_the_grid_are_the_records_and_the_headers(whole):
    cells = json.loads((whole / "grid.json").read_text(encoding="utf-8"))["verdicts"]
    measured = text.Measured.load(records.load())
    reproducers = catalog.select(catalog.load(), ())
    assert len(cells) == sum(len(one.devices) for one in reproducers) * len(measured.minors)
    by_id = {one.id: one for one in reproducers}
    for cell in cells[::31]:
        standing = measured.states.standing(by_id[cell["id"]], cell["device"], cell["release"])
        assert (cell["verdict"], cell["date"], cell["expected"]) == standing[:3]


def test_the_feed_has_what_each_release_changed_the_newest_first(root):
    plant(root, "amp/one", RETURNS.format("boom"))
    plant(root, "amp/two", RETURNS.format("boom"))
    one, two = catalog.load(root)
    rows = {
        "2.4.1": (measurement(hash=one.hash), measurement("absent", text="", hash=two.hash)),
        "2.5.1": (measurement("absent", text="", hash=one.hash), measurement(hash=two.hash)),
        "2.6.0": (measurement("absent", text="", hash=one.hash), measurement(hash=two.hash)),
        "2.7.1": (
            measurement(hash=one.hash, date="2026-02-03"),
            measurement(hash=two.hash),
        ),
    }
    found = exports.changes(
        [one, two],
        text.Measured.load(
            [record(torch, {"amp/one": a, "amp/two": b}) for torch, (a, b) in rows.items()]
        ),
    )
    assert [(change.before, change.torch, change.date) for change in found] == [
        ("2.6", "2.7", "2026-02-03"),
        ("2.4", "2.5", "2026-01-01"),
    ]
    assert found[1].changes == {"breaks": [(two, ["cpu"])], "fixed": [(one, ["cpu"])]}
    assert found[1].summary == "1 broke, 1 fixed"


def test_a_release_on_which_it_cannot_be_run_is_no_change_of_the_failure(root):
    plant(root, "amp/one", RETURNS.format("boom"))
    (one,) = catalog.load(root)
    there, gap = measurement(hash=one.hash), measurement("unavailable", text="", hash=one.hash)
    rows = {"2.4.1": there, "2.5.1": gap, "2.6.0": there}
    found = [record(torch, {"amp/one": each}) for torch, each in rows.items()]
    assert exports.changes([one], text.Measured.load(found)) == []
    assert len(exports.changes([one], text.Measured.load(found[:2]))) == 1


@pytest.mark.xdist_group("whole")
def test_the_feed_the_sitemap_and_every_address_are_whole(whole):
    feed = ElementTree.parse(whole / "changes.xml").getroot()
    atom = "{http://www.w3.org/2005/Atom}"
    entries = feed.findall(f"{atom}entry")
    assert len({entry.findtext(f"{atom}id") for entry in entries}) == len(entries) > 5
    titles = [entry.findtext(f"{atom}title") for entry in entries]
    minors = [re.match(r"torch ([\d.]+): ", title)[1] for title in titles]
    assert minors == sorted(minors, key=Version, reverse=True)
    assert "https://example.org/repros/bugs/" in entries[0].findtext(f"{atom}content")
    listed = re.findall("<loc>(.*?)</loc>", (whole / "sitemap.xml").read_text(encoding="utf-8"))
    pages = [path.relative_to(whole).as_posix() for path in whole.rglob("*.html")]
    assert sorted(listed) == sorted(
        f"https://example.org/repros/{'' if page == 'index.html' else page}" for page in pages
    )
    assert "https://example.org/repros/sitemap.xml" in (whole / "robots.txt").read_text()
    for name, address in (("index.html", ""), ("bugs/amp/unscale_twice.html",) * 2):
        page = (whole / name).read_text(encoding="utf-8")
        assert f'<link rel="canonical" href="https://example.org/repros/{address}">' in page


def test_an_address_without_its_scheme_is_refused(root, tmp_path):
    plant(root, "amp/one", RETURNS.format("boom"))
    arguments = ("--repros", root, "site", "--into", tmp_path / "site", "--url", "example.org")
    result = call(*arguments)
    assert result.exit_code == 2
    assert "expected an address such as https://example.org/" in " ".join(result.output.split())
    assert call(*arguments[:-1], "https://example.org").exit_code == 0


def test_no_address_is_made_up(built, tmp_path):
    assert "canonical" not in built()
    assert not (tmp_path / "site/sitemap.xml").exists()
    assert not (tmp_path / "site/robots.txt").exists()


@pytest.mark.xdist_group("whole")
def test_every_message_of_several_causes_has_a_page_that_its_failures_link_to(whole):
    by_id = {one.id: one for one in catalog.load()}
    groups = [failure.Group(one, by_id) for one in causes.load()]
    assert len({group.name for group in groups}) == len(groups)
    for group in groups:
        if not group.texts and not group.reproducers:  # found only by its words
            assert not (whole / f"messages/{group.name}.html").exists()
            continue
        page = (whole / f"messages/{group.name}.html").read_text(encoding="utf-8")
        named = re.findall(r"<h3>(.*?)</h3>", page)
        assert [html.unescape(one) for one in named] == [one.cause for one in group.causes]
        assert ("No run here has raised this message" in page) == (not group.was_raised)
        assert page.count("Source, not run here") == sum(bool(one.source) for one in group.causes)
        for one in group.reproducers:
            its = (whole / f"bugs/{one.id}.html").read_text(encoding="utf-8")
            assert f'href="../../messages/{group.name}.html"' in its
            assert f'href="../bugs/{one.id}.html"' in page


@pytest.mark.xdist_group("whole")
def test_two_pages_list_all_messages_and_all_checklists(whole):
    start = (whole / "index.html").read_text(encoding="utf-8")
    for folder in ("messages", "diagnose"):
        page = (whole / folder / "index.html").read_text(encoding="utf-8")
        linked = re.findall(r'<li><a href="([^"/]+)">', page)
        assert len(linked) > 30
        assert {*linked, "index.html"} == {path.name for path in (whole / folder).glob("*.html")}
        assert f'href="{folder}/index.html"' in start


@pytest.mark.xdist_group("whole")
def test_a_file_to_run_is_the_reproducer_and_a_fix_is_the_fix(whole):
    for name, folder in (("bugs/amp/unscale_twice.py", "repros"), ("fixes/amp.py", "")):
        path = catalog.ROOT / name.replace("bugs", folder).replace("fixes", "reference_fixes")
        assert (whole / name).read_bytes() == path.read_bytes()


def test_what_is_related_is_named_once_and_under_the_nearest_heading():
    measured = text.Measured.load([])
    reproducers = catalog.select(catalog.load(), ())
    by_id = {one.id: one for one in reproducers}
    groups = [failure.Group(one, by_id) for one in causes.load()]
    all_of_them = [failure.Failure(one, measured, groups) for one in reproducers]
    one = next(each for each in all_of_them if each.id == "amp/autocast_cache_under_no_grad")
    found = failure.related(one, all_of_them)
    named = [each.id for several in found.values() for each in several]
    assert len(set(named)) == len(named)
    assert one.id not in named
    assert "amp/reentrant_checkpoint_cuts_graph" in [each.id for each in found["The same message"]]
    assert {each.reproducer.fix for each in found["The same fix, choose_precision()"]} == {
        one.reproducer.fix
    }
