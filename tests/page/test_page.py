import dataclasses
import gzip
import json
import re
import time

import pytest

from matrix import catalog, causes, toml, torches
from matrix.devices import DEVICES
from matrix.evidence import records
from matrix.evidence.states import EXPECTED, ROWS, States
from matrix.explain import compare, explain, ranges
from matrix.site import build as building
from tests.harness import pasted

REPRODUCERS = catalog.select(catalog.load(), ())
RELEASES, RECORDS = torches.load(), records.load()
STATES = States(RECORDS)
PUBLIC = toml.loads(
    (catalog.ROOT / "tests/harness/explain/public_errors.toml").read_text(encoding="utf-8")
)
MESSAGES = catalog.ROOT / "tests/harness/explain/public_messages.jsonl"
TEXTS = (
    sorted(
        {found.text for record in RECORDS for found in record.measurements.values() if found.text}
    )
    + [error["text"] for error in PUBLIC["error"] + PUBLIC["unrelated"]]
    + [json.loads(line)["text"] for line in MESSAGES.read_text(encoding="utf-8").splitlines()]
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
    + [pasted.CURLY, pasted.HTML]
)
PASTED = "PyTorch version: 2.4.1\nValueError: Attempting to unscale FP16 gradients."


def visible(tab):
    return tab.eval_on_selector_all(
        "#failures tbody tr", "rows => rows.filter(row => !row.hidden).map(row => row.id)"
    )


def test_the_page_explains_every_text_as_the_command_line_does(open_page):
    tab = open_page()
    script = """texts => { const data = DATA;
        const found = text => find(text, data).map(a => [a.ids, a.matched, a.title, a.line, a.named]);
        return texts.map(text => ({ answers: found(text), torch: torchVersion(text, data), readings: readingsOf(text, data) })); }"""
    for text, found in zip(TEXTS, tab.evaluate(script, TEXTS)):
        assert found["answers"] == [
            [answer.ids, answer.matched, answer.title, answer.line, answer.named]
            for answer in explain.find(text, REPRODUCERS)
        ], text
        assert found["readings"] == explain.look_up(text, REPRODUCERS).readings, text
        assert found["torch"] == explain.torch_version(text), text


def test_what_the_table_knows_of_every_cell_is_what_was_measured_or_else_expected(open_page):
    tab = open_page()
    script = """() => DATA.entries.flatMap(entry => Object.keys(entry.cells).flatMap(device => DATA.minors.map(
        minor => { const { state, measured } = standing(entry, device, minor, DATA); return [entry.id, device, minor, state, measured]; })))"""
    assert [tuple(one) for one in tab.evaluate(script)] == [
        (
            one.id,
            device,
            minor,
            found.state if found.date else EXPECTED[found.expected],
            bool(found.date),
        )
        for one in REPRODUCERS
        for device in one.devices
        for minor, found in STATES.standings(
            one, device, [torch.minor for torch in RELEASES]
        ).items()
    ]


def test_a_row_says_per_device_since_when_and_until_when(open_page):
    tab = open_page()
    for reproducer in REPRODUCERS[::9]:
        for device in reproducer.devices:
            row = STATES.standings(reproducer, device, [torch.minor for torch in RELEASES])
            found = ranges.load(device, row, RELEASES)
            cell = tab.locator(f'[id="{reproducer.id}"] td[data-on="{device}"]')
            shown = cell.inner_text()
            for part in found.measured + found.expected:
                assert part.text in shown
            assert ("(expected)" in shown) == bool(found.expected)


def test_every_cell_of_a_failure_s_page_is_the_grid_s(open_page):
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
    title = "Training with a GradScaler fails in unscale_() if the model was cast to half"
    assert title in answers.inner_text()
    assert (
        "On torch 2.4: cpu still there (measured), cuda still there (expected, not measured), "
        "mps not affected (expected, not measured)." in answers.inner_text()
    )
    assert "torch-repros vendor amp --into DIR" in answers.inner_text()
    tab.locator("#answers a").first.click()
    assert "model was cast to half" in tab.locator("h1").inner_text()
    tab.go_back()
    tab.wait_for_selector("#answers .answer")
    assert tab.locator("#answers .answer").count() == 1


def test_several_causes_are_listed_in_order_and_nothing_is_guessed(open_page):
    tab = open_page()
    tab.locator("#paste").fill(
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    )
    assert tab.locator("#answers li b").all_inner_texts() == [
        cause.cause for cause in causes.load()[0].causes
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
    """The effect of the reproducer on a release: "measured", "expected" or "not affected"."""
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
    tab.locator("#torch").select_option("2.13")
    tab.locator("#standing").select_option("there")
    found = {one.id: standing(one, "2.13", [device]) for one in REPRODUCERS}
    affected = {id for id, how in found.items() if how != "not affected"}
    assert set(visible(tab)) == affected
    assert len(affected) > 40
    expected = sum(how == "expected" for how in found.values())
    assert f"{expected} expected but not measured" in tab.locator("#count").inner_text()


def test_a_person_finds_out_whether_a_torch_is_affected(open_page):
    """If a device and a torch are selected, each row shows the state for this pair."""
    tab = open_page()
    tab.locator("#torch").select_option("2.13")
    row = tab.locator('[id="amp/autocast_cache_under_no_grad"]')
    assert row.locator(".now").all_inner_texts() == [
        "fixed in 2.11 (measured)",
        "fixed in 2.11 (expected, not measured)",
    ]
    tab.locator("#device").select_option("cpu")
    assert row.locator(".now").all_inner_texts() == ["fixed in 2.11 (measured)"]
    other = tab.locator('[id="amp/unscale_twice"]')
    assert other.locator(".now").all_inner_texts() == ["still there (measured)"]
    there = sum(standing(one, "2.13", ["cpu"]) == "measured" for one in REPRODUCERS)
    assert f", still there on torch 2.13: {there} measured, " in tab.locator("#count").inner_text()
    tab.locator("#standing").select_option("fixed")
    assert "amp/autocast_cache_under_no_grad" in visible(tab)
    assert "amp/unscale_twice" not in visible(tab)
    fixed = {
        one.id
        for one in REPRODUCERS
        if (cells := STATES.verdicts(one, "cpu")).get("2.13") == "absent"
        and "reproduced" in list(cells.values())[: list(cells).index("2.13")]
        # and only absent in between
        and "unavailable"
        not in list(cells.values())[: list(cells).index("2.13")][
            list(cells.values()).index("reproduced") :
        ]
    }
    assert set(visible(tab)) == fixed


def test_a_retired_reproducer_has_a_page_and_no_row(open_page):
    retired = next(one for one in catalog.load() if not one.is_current)
    assert retired.id not in visible(open_page())
    shown = open_page(f"bugs/{retired.id}.html").locator("main").inner_text()
    assert f"retired: {retired.retired}" in shown


def test_a_page_has_the_wrong_lines_the_right_ones_and_whose_failure_it_is(open_page):
    for reproducer in REPRODUCERS[::9]:
        tab = open_page(f"bugs/{reproducer.id}.html")
        assert catalog.ORIGINS[reproducer.origin] in tab.locator(".chip").nth(1).inner_text()
        wrong = tab.get_by_label("What a user wrote").inner_text()
        assert wrong.strip() == reproducer.wrong.strip()
        right = tab.get_by_label("What to write instead")
        assert right.count() == bool(reproducer.right)
        links = [*reproducer.reports, *reproducer.documents, reproducer.fixing_change]
        found = tab.eval_on_selector_all("main a", "links => links.map(link => link.href)")
        assert {link.split("#")[0] for link in links if link} <= {
            link.split("#")[0] for link in found
        }


def test_filters_narrow_the_table_and_survive_a_link(open_page):
    tab = open_page()
    assert len(visible(tab)) == len(REPRODUCERS)
    tab.locator("#family").select_option("amp")
    assert set(visible(tab)) == {one.id for one in REPRODUCERS if one.family == "amp"}
    tab.locator("#torch").select_option("2.11")
    tab.locator("#standing").select_option("there")
    measured = {one.id for one in REPRODUCERS if standing(one, "2.11") == "measured"}
    expected = {one.id for one in REPRODUCERS if standing(one, "2.11") == "expected"}
    affected = {id for id in measured | expected if id.startswith("amp/")}
    assert set(visible(tab)) == affected
    count = f"{len(affected)} of {len(REPRODUCERS)} failures on torch 2.11: {len(affected & measured)} measured, "
    shown = tab.locator("#count").inner_text()
    assert shown == count + f"{len(affected & expected)} expected but not measured"
    tab.reload()
    tab.wait_for_selector("html.ready")
    assert set(visible(tab)) == affected
    tab.get_by_role("button", name="Show all").click()
    tab.wait_for_function(
        f"document.getElementById('count').textContent === '{len(REPRODUCERS)} failures'"
    )
    assert tab.locator(".now").count() == 0
    tab.get_by_label("Words").fill("why is batchnorm nan")
    assert "numerics/one_batch_poisons_batchnorm" in visible(tab)
    tab.get_by_label("Words").fill("xyzzy")
    assert visible(tab) == []


def test_a_column_sorts_the_rows_and_a_link_keeps_their_order(open_page):
    tab = open_page()
    assert visible(tab) == sorted(visible(tab))
    tab.get_by_role("button", name="kind").click()
    kinds = {one.id: one.kind for one in REPRODUCERS}
    assert visible(tab) == sorted(visible(tab), key=lambda id: (kinds[id], id))
    assert tab.locator("th[aria-sort]").inner_text().startswith("kind")
    tab.get_by_role("button", name="cpu").click()
    newest = visible(tab)[0]
    states = list(STATES.verdicts(catalog.select(REPRODUCERS, (newest,))[0], "cpu").values())
    assert states[-1] != states[-2]  # the newest release changed this state
    tab.reload()
    tab.wait_for_selector("html.ready")
    assert visible(tab)[0] == newest
    tab.get_by_role("button", name="Show all").click()
    tab.wait_for_function("!document.querySelector('th[aria-sort]')")
    assert visible(tab) == sorted(visible(tab))


@pytest.mark.parametrize(
    ("control", "value"), [("#kind", "error"), ("#device", "mps"), ("#origin", "torch")]
)
def test_each_filter_alone_shows_what_it_names(open_page, control, value):
    tab = open_page()
    tab.locator(control).select_option(value)
    expected = {e.id for e in REPRODUCERS if value in (e.kind, e.origin, *e.devices)}
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
    for _ in range(55):  # some links to checklists come first
        tab.keyboard.press("Tab")
        reached.append(
            tab.evaluate(
                "document.activeElement.id || document.activeElement.textContent.slice(0, 20)"
            )
        )
    assert reached[0].startswith("Skip")
    for id in ("paste", "example", "words", "family", "device", "kind", "torch", "old", "sort"):
        assert id in reached
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_without_script_everything_is_there_that_needs_none(open_page):
    tab = open_page(java_script_enabled=False)
    assert tab.locator("#failures tbody tr").count() == len(REPRODUCERS)
    assert "With JavaScript, this page explains" in tab.locator("noscript").inner_text()
    for id in ("paste", "filters"):
        assert not tab.locator(f"#{id}").is_visible()
    tab.locator("#failures a").first.click()
    assert tab.locator("pre").first.is_visible()
    assert not tab.locator("button.copy").first.is_visible()


@pytest.mark.parametrize(
    "name",
    ["index.html", "bugs/amp/autocast_cache_under_no_grad.html", "messages/out-of-memory.html"],
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_in_dark(open_page, name, scheme):
    tab = open_page(name, color_scheme=scheme)
    script = """() => {
        const light = rgb => { const c = rgb.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
        const numbers = text => text.match(/[\\d.]+/g).map(Number);
        const paper = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
            if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
        const all = [...document.querySelectorAll("h1, h2, h3, p, a, b, i, td, th, code, pre span, label, summary, footer, small, figcaption, button")];
        return all.filter(e => e.offsetParent && e.textContent.trim()).map(e => {
            const [a, b] = [light(numbers(getComputedStyle(e).color).slice(0, 3)), light(paper(e).slice(0, 3))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName + "." + e.className]; });
    }"""
    assert min(tab.evaluate(script))[0] >= 4.5  # WCAG AA


def test_it_is_readable_on_a_phone(open_page):
    names = [f"bugs/{one.id}.html" for one in REPRODUCERS[::40]]
    for name in ("index.html", "diagnose/index.html", "messages/out-of-memory.html", *names):
        tab = open_page(name, viewport={"width": 360, "height": 740})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360, name  # except code


def test_no_button_covers_the_code_that_it_copies(open_page):
    for width in (390, 1440):
        tab = open_page(
            "bugs/amp/unscale_before_scale.html", viewport={"width": width, "height": 800}
        )
        covered = tab.eval_on_selector_all(
            ".copyable:not(details *)",
            """all => all.filter(one => { const [button, code] = ["button", "pre"].map(name => one.querySelector(name).getBoundingClientRect());
                return button.width === 0 || (button.bottom > code.top && button.right > code.left && button.left < code.right && button.top < code.bottom); }).length""",
        )
        assert covered == 0


def test_nothing_moves_while_the_index_loads(open_page):
    tab = open_page(viewport={"width": 1280, "height": 1800})  # shows rows of the table

    def late(route):
        time.sleep(0.5)
        route.continue_()

    tab.route("**/data.js", late)
    tab.goto(f"{tab.url}#family=autograd&torch=2.13&standing=there")
    tab.reload()
    tab.wait_for_selector("html.ready")
    script = """() => new Promise(done => { let moved = 0;
        new PerformanceObserver(list => { for (const one of list.getEntries()) moved += one.value; }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(moved), 500); })"""
    assert tab.evaluate(script) < 0.05
    assert len(visible(tab)) < len(REPRODUCERS)


def test_every_state_has_a_sign_of_its_own_besides_its_colour():
    assert len({row.sign for row in ROWS}) == len(ROWS)
    assert all(row.sign.strip() for row in ROWS if row.name != "not applicable")


def test_all_of_it_is_small_and_no_link_leads_nowhere(site):
    needed = ("index.html", "data.js", "page.js", "style.css")  # details.js comes after these
    assert sum((site / name).stat().st_size for name in needed) < 2_000_000
    assert (site / "details.js").stat().st_size < 2_000_000
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        sent = len(gzip.compress(text.encode()))
        assert sent <= (200 * len(REPRODUCERS) if path.name == "index.html" else 16_000), path
        ids = set(re.findall(r'\bid="([^"]+)"', text))
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            file, _, part = target.partition("#")
            if target.startswith(("https://", "data:")):
                continue
            assert not file or (path.parent / file).is_file(), f"{path}: {target}"
            assert file or part in ids, f"{path}: {target}"


def test_a_title_that_looks_like_markup_leaves_the_page_working(browser, tmp_path):
    """A script element ends at the first "</script", and "<!-- <script" hides this end tag."""
    reproducer = dataclasses.replace(REPRODUCERS[0], title="<!-- <script> a title </script>")
    building.build(tmp_path / "site", [reproducer], [])
    context = browser.new_context()
    tab = context.new_page()
    tab.goto((tmp_path / "site/index.html").as_uri())
    tab.wait_for_selector("html.ready")
    assert tab.locator("#explain").is_visible()
    assert "<!-- <script> a title </script>" in tab.locator("#failures a").first.inner_text()
    context.close()


def test_no_page_shows_its_markup(open_page, site):
    for path in site.rglob("*.html"):
        assert "&lt;code&gt;" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize(("old", "new"), [("2.4", "2.15"), ("2.15", "1.13"), ("2.9", "2.9")])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_two_releases_compare_as_on_the_command_line(open_page, old, new, device):
    tab = open_page()
    for id, value in {"old": old, "torch": new, "device": device}.items():
        tab.select_option(f"#{id}", value)
    ends = (torches.find(RELEASES, (name,))[0] for name in (old, new))
    expected = compare.compare(REPRODUCERS, RECORDS, RELEASES, *ends, [device])
    moved = [one for one in expected.changes if one.change != "message"]
    assert set(visible(tab)) == {one.reproducer.id for one in moved}
    for one in moved:
        said = tab.locator(f'[id="{one.reproducer.id}"] td[data-on="{device}"] .now').inner_text()
        assert said.startswith(compare.CHANGES[one.change])
    shown = tab.locator("#count").inner_text()
    for name in dict.fromkeys(compare.BY_STATES.values()):
        count = sum(one.change == name for one in moved)
        assert f"{compare.CHANGES[name]}: {count or 'nothing'}" in shown
    same = len(expected.same) + len(expected.changes) - len(moved)
    assert f"Fails on both, with the same message or another: {same or 'nothing'}." in shown
    assert f"not measured on both releases: {len(expected.unknown) or 'nothing'}." in shown


def test_a_person_goes_from_a_traceback_to_the_code_of_the_fix(open_page):
    tab = open_page()
    tab.get_by_label("Paste a traceback").fill(PASTED)
    tab.locator("#answers").get_by_role("link", name="Everything about it").click()
    assert "model was cast to half" in tab.locator("h1").inner_text()
    assert (
        "Attempting to unscale FP16 gradients." in tab.locator("#see ~ figure").first.inner_text()
    )
    tab.locator("summary", has_text="The code of choose_precision").click()
    assert tab.get_by_label("The code of the fix").inner_text().startswith("def choose_precision(")
    assert "torch-repros vendor amp --into DIR" in tab.get_by_label("How to vendor").inner_text()


def test_the_example_is_answered(open_page):
    tab = open_page()
    tab.get_by_role("button", name="Show me an example").click()
    assert "Traceback (most recent call last)" in tab.locator("#paste").input_value()
    assert "Attempting to unscale FP16 gradients" in tab.locator("#answers").inner_text()
    assert "Your line: train.py:12" in tab.locator("#answers").inner_text()
    assert (
        "Calling model.half() makes the parameters float16" in tab.locator("#answers").inner_text()
    )
    tab.get_by_role("button", name="Clear").click()
    assert tab.locator("#answers").inner_text() == ""


def test_a_person_finds_a_silent_failure_by_words(open_page):
    tab = open_page()
    tab.get_by_label("Words").fill("batchnorm nan")
    tab.locator("#kind").select_option("silent")
    tab.locator('[id="numerics/one_batch_poisons_batchnorm"] a').click()
    shown = tab.locator("main").inner_text()
    assert "numerics/one_batch_poisons_batchnorm" in shown
    assert "There is no error message." in shown
    assert tab.get_by_label("What a user wrote").is_visible()


def test_a_message_of_several_causes_is_reached_from_its_answer_and_leads_to_each(open_page):
    tab = open_page()
    tab.locator("#paste").fill(
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    )
    tab.locator("#answers").get_by_role("link", name="all its causes").click()
    group = causes.load()[0]
    assert tab.locator("h1").inner_text() == group.title
    assert tab.locator(".causes h3").all_inner_texts() == [one.cause for one in group.causes]
    tab.locator(".causes a").first.click()
    assert tab.locator("h1").inner_text() in {one.title for one in REPRODUCERS}
