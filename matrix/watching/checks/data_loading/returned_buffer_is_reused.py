from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import tensors, version


class ReturnedBufferIsReused(Check):
    level = "error"
    change = "Return a copy of the buffer: buffer.clone()"

    def collating(self, samples: Any) -> str | None:
        firsts = [next(iter(tensors(sample)), None) for sample in samples]
        addresses = [each.data_ptr() for each in firsts if each is not None and each.numel()]
        if len(addresses) > 1 and len(set(addresses)) == 1 and not _is_constant(firsts):
            return f"the {len(addresses)} rows of a batch are the same tensor"
        return None


def _is_constant(samples: list[Any]) -> bool:
    """True if the samples are one constant tensor, which has not changed once per row."""
    return all(version(each) < len(samples) for each in samples)
