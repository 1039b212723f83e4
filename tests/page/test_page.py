import dataclasses
import gzip
import re
from collections import Counter

import pytest

from matrix import catalog, causes, toml, torches
from matrix.answers import compare, explain
from matrix.answers import site as building
from matrix.devices import DEVICES
from matrix.evidence import records
from matrix.evidence.states import States
from tests.harness import pasted

REPRODUCERS = catalog.select(catalog.load(), ())
RELEASES, RECORDS = torches.load(), records.load()
STATES = States(RECORDS)
PUBLIC = toml.loads(
    (catalog.ROOT / "tests/harness/answers/public_errors.toml").read_text(encoding="utf-8")
)
TEXTS = (
    sorted(
        {found.text for record in RECORDS for found in record.measurements.values() if found.text}
    )
    + [error["text"] for error in PUBLIC["error"] + PUBLIC["unrelated"]]
    + [
        "│ RuntimeError: Inference tensors cannot be saved for │\n│ backward. Please do not use Tensors │",
        "\x1b[31mRuntimeError\x1b[0m: Inference tensors \x1b[1mcannot\x1b[0m be saved for backward",
        "UserWarning: None of the inputs have requires_grad=True. Gradients will be None\nAttempting to unscale FP16 gradients.",
        "UserWarning: None of the inputs have requires_grad=True. Gradients will be None",
    ]
    + list(pasted.LAYOUTS.values())
    + [text for text, _ in pasted.TRACEBACKS + pasted.READ]
    + pasted.NOT_READ
    + pasted.NAMED
    + [pasted.CURLY]
)
PASTED = "PyTorch version: 2.4.1\nValueError: Attempting to unscale FP16 gradients."


def visible(tab):
    return tab.eval_on_selector_all(
        "#grid tbody", "bodies => bodies.filter(b => !b.hidden).map(b => b.dataset.id)"
    )


def test_the_page_explains_every_text_as_the_command_line_does(open_page):
    tab = open_page()
    script = """texts => { const data = JSON.parse(document.getElementById("data").textContent);
        const found = text => find(text, data).map(a => [a.ids, a.matched, a.title, a.line, a.named]);
        return texts.map(text => ({ answers: found(text), torch: torchVersion(text, data), readings: readingsOf(text, data) })); }"""
    for text, found in zip(TEXTS, tab.evaluate(script, TEXTS)):
        assert found["answers"] == [
            [answer.ids, answer.matched, answer.title, answer.line, answer.named]
            for answer in explain.find(text, REPRODUCERS)
        ], text
        assert found["readings"] == explain.look_up(text, REPRODUCERS).readings, text
        assert found["torch"] == explain.torch_version(text), text


def test_the_figures_are_the_grid_s(open_page):
    tab = open_page()
    shown = Counter(
        tab.eval_on_selector_all("#grid td[title]", "cells => cells.map(cell => cell.title)")
    )
    assert shown == Counter(
        STATES.state(reproducer, device, torch.minor)
        for reproducer in REPRODUCERS
        for torch in RELEASES
        for device in reproducer.devices
    )
    assert tab.locator("#grid tbody").count() == len(REPRODUCERS)


def test_every_row_of_a_bug_s_page_is_the_grid_s(open_page):
    for reproducer in REPRODUCERS[::9]:
        tab = open_page(f"bugs/{reproducer.id}.html")
        cells = tab.eval_on_selector_all(
            "table.row tbody td", "cells => cells.map(cell => cell.title)"
        )
        assert cells == [
            STATES.state(reproducer, device, torch.minor)
            for device in reproducer.devices
            for torch in RELEASES
        ]


def test_a_pasted_traceback_is_answered_and_back_brings_the_answer_back(open_page):
    tab = open_page()
    tab.get_by_label("Paste a traceback").fill(PASTED)
    answers = tab.locator("#answers")
    assert "A model cast to half cannot be trained with a GradScaler" in answers.inner_text()
    assert (
        "On torch 2.4: cpu reproduced (measured), cuda affected (expected, not measured), "
        "mps not affected (expected, not measured)." in answers.inner_text()
    )
    assert "torch-repros vendor amp --into DIR" in answers.inner_text()
    tab.locator("#answers a").first.click()
    assert "A model cast to half" in tab.locator("h1").inner_text()
    tab.go_back()
    tab.wait_for_selector("#answers .answer")
    assert tab.locator("#answers .answer").count() == 1


def test_several_causes_are_listed_in_order_and_nothing_is_guessed(open_page):
    tab = open_page()
    tab.locator("#paste").fill(
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    )
    assert tab.locator("#answers li b").all_inner_texts() == [
        cause["cause"] for cause in causes.load()[0]["causes"]
    ]
    tab.locator("#paste").fill("RuntimeError: nothing that anybody has met")
    assert "No known failure matches this text." in tab.locator("#answers").inner_text()
    tab.locator("#paste").fill("")
    assert tab.locator("#answers").inner_text() == ""


def test_a_pasted_text_is_never_taken_for_markup(open_page):
    tab = open_page()
    tab.locator("#paste").fill(
        "cannot pin '<img src=x onerror=boom()>' only dense CPU tensors can be pinned"
    )
    assert "<img src=x" in tab.locator("#answers code").first.inner_text()
    assert tab.locator("#answers img").count() == 0


def standing(reproducer, minor, devices=DEVICES):
    """How the reproducer affects a release: "measured", "expected" or "not affected"."""
    found = [
        STATES.standing(reproducer, device, minor)
        for device in devices
        if device in reproducer.affected
    ]
    if any(one.state == "reproduced" for one in found):
        return "measured"
    if any(one.expected == "reproduced" and not one.date for one in found):
        return "expected"
    return "not affected"


@pytest.mark.parametrize("device", DEVICES)
def test_what_nobody_measured_on_a_device_is_shown_as_expected(open_page, device):
    tab = open_page()
    tab.locator("#device").select_option(device)
    tab.get_by_label("Affects my torch").select_option("2.13")
    found = {one.id: standing(one, "2.13", [device]) for one in REPRODUCERS}
    affected = {id for id, how in found.items() if how != "not affected"}
    assert set(visible(tab)) == affected
    assert len(affected) > 40
    expected = sum(how == "expected" for how in found.values())
    assert f"{expected} expected but not measured" in tab.locator("#count").inner_text()


def test_a_retired_reproducer_has_a_page_and_no_row(open_page):
    retired = next(one for one in catalog.load() if one.retired)
    assert retired.id not in visible(open_page())
    assert f"retired: {retired.retired}" in open_page(f"bugs/{retired.id}.html").content()


def test_a_page_has_the_wrong_lines_the_right_ones_and_whose_failure_it_is(open_page):
    for reproducer in REPRODUCERS[::9]:
        tab = open_page(f"bugs/{reproducer.id}.html")
        shown = tab.locator("main").inner_text()
        assert f"Origin: {reproducer.origin}: {catalog.ORIGINS[reproducer.origin]}." in shown
        wrong = tab.get_by_label("What a user wrote").inner_text()
        assert wrong.strip() == reproducer.wrong.strip()
        right = tab.get_by_label("What to write instead")
        assert right.count() == bool(reproducer.right)
        links = [*reproducer.reports, *reproducer.documents, reproducer.fixing_change]
        found = tab.eval_on_selector_all("main a", "links => links.map(link => link.href)")
        assert {link.split("#")[0] for link in links if link} <= {
            link.split("#")[0] for link in found
        }


def test_filters_narrow_the_grid_and_survive_a_link(open_page):
    tab = open_page()
    assert len(visible(tab)) == len(REPRODUCERS)
    tab.get_by_label("Family").select_option("amp")
    assert set(visible(tab)) == {one.id for one in REPRODUCERS if one.family == "amp"}
    tab.get_by_label("Affects my torch").select_option("2.11")
    measured = {one.id for one in REPRODUCERS if standing(one, "2.11") == "measured"}
    expected = {one.id for one in REPRODUCERS if standing(one, "2.11") == "expected"}
    affected = {id for id in measured | expected if id.startswith("amp/")}
    assert set(visible(tab)) == affected
    count = f"{len(affected)} of {len(REPRODUCERS)} bugs: {len(affected & measured)} measured, "
    shown = tab.locator("#count").inner_text()
    assert shown == count + f"{len(affected & expected)} expected but not measured"
    tab.reload()
    assert set(visible(tab)) == affected
    tab.get_by_role("button", name="Show all").click()
    tab.wait_for_function(
        f"document.getElementById('count').textContent.startsWith('{len(REPRODUCERS)} of')"
    )
    tab.get_by_label("Words").fill("why is batchnorm nan")
    assert "numerics/one_batch_poisons_batchnorm" in visible(tab)
    tab.get_by_label("Words").fill("xyzzy")
    assert visible(tab) == []


@pytest.mark.parametrize(("control", "value"), [("#kind", "error"), ("#device", "mps")])
def test_each_filter_alone_shows_what_it_names(open_page, control, value):
    tab = open_page()
    tab.locator(control).select_option(value)
    expected = {e.id for e in REPRODUCERS if value in (e.kind, *e.devices)}
    assert len(expected) < len(REPRODUCERS)
    assert set(visible(tab)) == expected


@pytest.mark.parametrize("clipboard", [True, False])
def test_code_is_copied_also_where_there_is_no_clipboard_to_write_to(open_page, clipboard):
    options = {"permissions": ["clipboard-read", "clipboard-write"]} if clipboard else {}
    tab = open_page("bugs/amp/unscale_twice.html", **options)
    if not clipboard:
        tab.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    tab.evaluate(
        "document.addEventListener('copy', () => { window.copied = document.activeElement.value; })"
    )
    tab.locator(".copyable", has=tab.get_by_label("The failing code")).locator("button").click()
    tab.wait_for_selector("button:text('Copied')")
    code = tab.get_by_label("The failing code").inner_text()
    assert code.startswith("import torch")
    found = tab.evaluate("navigator.clipboard.readText()" if clipboard else "window.copied")
    assert found.strip() == code.strip()


def test_everything_is_reached_with_the_keyboard_alone(open_page):
    tab = open_page()
    reached = []
    for _ in range(14):
        tab.keyboard.press("Tab")
        reached.append(
            tab.evaluate(
                "document.activeElement.id || document.activeElement.textContent.slice(0, 20)"
            )
        )
    assert reached[0].startswith("Skip")
    for id in ("paste", "words", "family", "device", "kind", "torch"):
        assert id in reached
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_without_script_the_first_view_is_whole(open_page):
    tab = open_page(java_script_enabled=False)
    assert tab.locator("#grid tbody").count() == len(REPRODUCERS)
    assert not tab.locator("#paste").is_visible()
    assert not tab.locator("#filters").is_visible()
    tab.locator("#grid a").first.click()
    assert tab.locator("pre").first.is_visible()
    assert not tab.locator("button.copy").first.is_visible()


@pytest.mark.parametrize("name", ["index.html", "bugs/amp/autocast_cache_under_no_grad.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_in_dark(open_page, name, scheme):
    tab = open_page(name, color_scheme=scheme)
    script = """() => {
        const light = rgb => { const c = rgb.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
        const numbers = text => text.match(/[\\d.]+/g).map(Number);
        const paper = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
            if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
        const all = [...document.querySelectorAll("h1, h2, p, a, td, th, code, label, summary, footer, .title, .kind, button")];
        return all.filter(e => e.offsetParent && e.textContent.trim()).map(e => {
            const [a, b] = [light(numbers(getComputedStyle(e).color).slice(0, 3)), light(paper(e).slice(0, 3))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName + "." + e.className]; });
    }"""
    assert min(tab.evaluate(script))[0] >= 4.5  # WCAG AA


def test_it_is_readable_on_a_phone(open_page):
    for name in ("index.html", "bugs/numerics/clip_overflow_zeroes_step.html"):
        tab = open_page(name, viewport={"width": 360, "height": 740})
        assert (
            tab.evaluate("document.documentElement.scrollWidth") <= 360
        )  # only the grid and code scroll sideways


def test_every_state_has_a_sign_of_its_own_besides_its_colour(open_page):
    tab = open_page()
    pairs = set(
        map(
            tuple,
            tab.eval_on_selector_all(
                "#grid td[title]", "cells => cells.map(c => [c.title, c.textContent])"
            ),
        )
    )
    assert len({sign for _, sign in pairs}) == len(pairs)
    assert all(sign for _, sign in pairs)


def test_all_of_it_is_small_and_no_link_leads_nowhere(site):
    files = [path for path in site.rglob("*") if path.is_file()]
    for path in files:
        sent = len(gzip.compress(path.read_bytes()))
        most = 400 * len(REPRODUCERS) if path.name == "index.html" else 8_000
        assert sent <= most, f"{path}: {sent} bytes"
    for path in files:
        for target in (
            re.findall(r'(?:href|src)="([^"#]+)"', path.read_text(encoding="utf-8"))
            if path.suffix == ".html"
            else ()
        ):
            assert target.startswith("https://") or (path.parent / target).is_file(), (
                f"{path}: {target}"
            )


def test_a_title_that_looks_like_markup_leaves_the_page_working(browser, tmp_path):
    """A script element ends at the first "</script", and "<!-- <script" hides that end."""
    reproducer = dataclasses.replace(REPRODUCERS[0], title="<!-- <script> a title </script>")
    building.build(tmp_path / "site", [reproducer], [])
    context = browser.new_context()
    tab = context.new_page()
    tab.goto((tmp_path / "site/index.html").as_uri())
    assert tab.locator("#explain").is_visible()
    assert "<!-- <script> a title </script>" in tab.locator("#grid .title").first.inner_text()
    context.close()


def test_no_page_shows_its_markup(open_page, site):
    for path in site.rglob("*.html"):
        assert "&lt;code&gt;" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize(("old", "new"), [("2.4", "2.15"), ("2.15", "1.13"), ("2.9", "2.9")])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_two_releases_compare_as_on_the_command_line(open_page, old, new, device):
    tab = open_page()
    for id, value in {"old": old, "new": new, "on": device}.items():
        tab.select_option(f"#{id}", value)
    tab.click("#comparing")
    ends = (torches.find(RELEASES, (name,))[0] for name in (old, new))
    expected = compare.compare(REPRODUCERS, RECORDS, RELEASES, *ends, [device])
    moved = [one for one in expected.changes if one.change != "message"]
    assert tab.eval_on_selector_all("#changes a", "links => links.map(a => a.textContent)") == [
        one.reproducer.id for one in moved
    ]
    shown = tab.inner_text("#changes")
    for name in dict.fromkeys(compare.BY_STATES.values()):
        count = sum(one.change == name for one in moved)
        assert f"{compare.CHANGES[name]}: {count or 'nothing'}" in shown
    same = len(expected.same) + len(expected.changes) - len(moved)
    assert f"Fails on both: {same or 'nothing'}." in shown
    assert f"not measured on both: {len(expected.unknown) or 'nothing'}." in shown
