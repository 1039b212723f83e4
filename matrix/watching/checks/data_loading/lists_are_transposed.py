from __future__ import annotations

from typing import Any

from ...check import Check


class ListsAreTransposed(Check):
    level = "note"
    change = "Return a tensor from __getitem__(), not a list of numbers"

    def collating(self, samples: Any) -> str | None:
        row = samples[0] if samples else None
        fields: list[Any] = [row]  # if it is longer than (x, y) or (x, y, weight)
        if isinstance(row, list) and len(row) < 4:
            fields = []
        if isinstance(row, (dict, list, tuple)):
            fields += row.values() if isinstance(row, dict) else row
        for field in fields:
            numbers = isinstance(field, list) and all(isinstance(v, (int, float)) for v in field)
            if numbers and len(field) > 1:
                return f"a list of {len(field)} numbers per row becomes {len(field)} columns"
        return None
