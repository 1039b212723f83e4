from __future__ import annotations

import sys
from typing import Any

import torch

from ...check import Check
from ...events import tensors


class SliceSavesItsWholeStorage(Check):
    level = "warning"
    change = "Save a copy: tensor.clone()"

    def saved(self, obj: Any) -> str | None:
        used: dict[int, int] = {}
        sizes: dict[int, int] = {}
        for tensor in tensors(obj, 10, sys.maxsize):
            if tensor.layout is torch.strided and tensor.device.type != "meta":
                storage = (
                    tensor.untyped_storage()
                    if hasattr(tensor, "untyped_storage")
                    else tensor.storage()
                )
                key, size = storage.data_ptr(), storage.nbytes()
                used[key] = used.get(key, 0) + tensor.numel() * tensor.element_size()
                sizes[key] = size
        for key, size in sizes.items():
            if size > 4 * used[key] and size > 4096:
                return (
                    f"a tensor of {used[key]} bytes is saved with all {size} bytes of its storage"
                )
        return None
