import shutil

import pytest
from playwright.sync_api import sync_playwright

from matrix import catalog
from matrix.evidence import records
from matrix.site import build as building


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    building.build(folder, catalog.load(), records.load())
    return folder


@pytest.fixture(scope="session")
def browser():
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, site):
    """Opens pages from file://. A page with an error, or with a network request, fails the test."""
    contexts, wrong = [], []

    def opened(name="index.html", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        tab.on(
            "console",
            lambda message: wrong.append(message.text) if message.type == "error" else None,
        )
        tab.on(
            "request",
            lambda request: (
                None if request.url.startswith("file:") else wrong.append(f"request: {request.url}")
            ),
        )
        tab.goto((site / name).as_uri())
        if name == "index.html" and options.get("java_script_enabled", True):
            tab.wait_for_selector("html.ready")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
