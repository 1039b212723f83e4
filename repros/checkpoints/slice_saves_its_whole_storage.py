# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.save() of a slice writes the whole tensor that the slice belongs to"
# kind = "silent"
# symptom = "10 of 10000 rows take 8\\d{4} bytes"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/notes/serialization.html",
# ]
# wrong = '''
# torch.save(features[:10], path)
# '''
# right = '''
# torch.save(features[:10].clone(), path)
# '''
# rule = "note"
# when = "the slice is much smaller than the tensor"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The file with ten rows is as large as the file with all rows, and torch.load() reads all of them.

torch.save() writes whole storages, so tensors that share memory still share it after the load. A
slice has the storage of its base (docs: serialization semantics). The same applies to any view,
such as a row of a batch or one element of chunk() or split(). The methods detach(), contiguous()
and cpu() do not always copy, but indexing with a list or a mask does. The clone has a storage of
its own size. Loaded clones no longer share memory, so do not clone a state_dict's tied weights.
"""

import io

import torch


def start(device):
    return torch.arange(20000.0, device=device).reshape(10000, 2), io.BytesIO()


def check(features, path):
    size = len(path.getvalue())
    path.seek(0)
    if not torch.load(path, map_location=features.device).equal(features[:10]):
        return "the file has other rows"
    if size > 20000:
        return f"10 of 10000 rows take {size} bytes"


def reproduce(device):
    features, path = start(device)
    torch.save(features[:10], path)
    return check(features, path)


def control(device):
    features, path = start(device)
    torch.save(features[:10].clone(), path)
    return check(features, path)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
