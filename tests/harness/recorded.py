"""Records for tests."""

from matrix.evidence.schema import Measurement, Record, Source


def source(kind="self", **changed):
    build = {"python": "3.11.7", "cuda": "12.1", "numpy": "1.26.4", "os": "Linux"}
    values = {"harness": "0.1.0", "command": "", "build": build, "hardware": {"name": "x86_64"}}
    return Source(kind=kind, **{**values, **changed})


def counts(verdict):
    """The number of runs, and the number of agreeing runs, that match a verdict."""
    runs, agreeing = {"unavailable": (0, 0), "flaky": (5, 4)}.get(verdict, (5, 5))
    return {"runs": runs, "agreeing": agreeing}


def measurement(verdict="reproduced", **changed):
    values = {
        "text": "boom",
        "detail": "",
        "popular_fix": None,
        **counts(verdict),
        "seconds": 0.01,
        "peak_mib": 1.0,
        "hash": "0" * 16,
        "date": "2026-01-01",
        "source": source(),
    }
    return Measurement(verdict, **{**values, **changed})


def record(torch="2.4.1+cu121", measurements=None, device="cpu", **changed):
    values = {"platform": "linux", "machine": "x86_64", **changed}
    held = {"amp/one": measurement()} if measurements is None else measurements
    return Record(device, torch, measurements=held, **values)
