# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "DataLoader ignores the __getitem__ of a Subset subclass when it builds batches"
# kind = "silent"
# symptom = "subset\\[0\\] is 10, the loader's is 1"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/163184"]
# documents = ["https://github.com/pytorch/pytorch/pull/100375"]
# fixed_by = "pytorch#163961"
# wrong = '''
# class Scaled(Subset):
#     def __getitem__(self, index):
#         return 10 * super().__getitem__(index)
# '''
# right = '''
# class Scaled(Subset):
#     def __getitem__(self, index):
#         return 10 * super().__getitem__(index)
#     def __getitems__(self, indices):
#         return [self[index] for index in indices]
# '''
# affected = { cpu = ">=2.1,<2.11" }
# ///
"""Indexing a Subset subclass, as in subset[0], applies its transform, but the DataLoader does not.

From 2.1 on, Subset has a __getitems__ method, which the loader prefers. This method reads the
wrapped dataset and never calls self.__getitem__ (pytorch#100375). With batch_size=None, or inside a
ConcatDataset, the loader reads row by row and applies the transform
(torch/utils/data/_utils/fetch.py). Note that random_split() creates plain Subsets, not instances of
the subclass. Since the upstream fix, creating an instance of a subclass that only overrides
__getitem__ raises NotImplementedError (pytorch#163961).
"""

from torch.utils.data import DataLoader, Subset


def first(subset):
    (batch,) = DataLoader(subset, batch_size=2)
    if (subset[0], batch[0].item()) != (10, 10):
        return f"subset[0] is {subset[0]}, the loader's is {batch[0]}"


def reproduce(device):
    class Scaled(Subset):
        def __getitem__(self, index):
            return 10 * super().__getitem__(index)

    try:
        return first(Scaled([1, 2, 3], indices=[0, 1]))
    except NotImplementedError as error:
        if "__getitems__" not in str(error):
            raise


def control(device):
    class Scaled(Subset):
        def __getitem__(self, index):
            return 10 * super().__getitem__(index)

        def __getitems__(self, indices):
            return [self[index] for index in indices]

    return first(Scaled([1, 2, 3], indices=[0, 1]))


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
