"""Runs Lighthouse on the built site: `nox -s lighthouse`. Fails if a category is below LEAST.

The site is served uncompressed. It loads faster from a host that compresses files.
"""

from __future__ import annotations

import functools
import http.server
import json
import statistics
import subprocess
import sys
import threading
from pathlib import Path

VERSION = "12.8.2"
LEAST = 0.95
RUNS = 3  # the median counts, because other programs on the machine lower the performance score
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
PAGES = ("index.html", "bugs/amp/autocast_cache_under_no_grad.html", "messages/out-of-memory.html")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def scores(address: str) -> dict[str, float]:
    """Maps each category to the score of a page on Lighthouse's simulated slow phone."""
    command = ["npx", "--yes", f"lighthouse@{VERSION}", address, "--quiet", "--output=json"]
    command.append("--chrome-flags=--headless=new --no-sandbox")
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    categories = json.loads(done.stdout)["categories"]
    return {name: categories[name]["score"] for name in CATEGORIES}


def median(address: str) -> dict[str, float]:
    runs = [scores(address) for _ in range(RUNS)]
    return {name: statistics.median(run[name] for run in runs) for name in CATEGORIES}


def main(folder: Path) -> int:
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = {page: median(f"http://localhost:{server.server_port}/{page}") for page in PAGES}
        server.shutdown()
    for page, row in found.items():
        print(page, *(f"{name} {score * 100:.0f}" for name, score in row.items()), sep="  ")
    return int(any(score < LEAST for row in found.values() for score in row.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
