# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A data frame with number and bool columns becomes an object array, which torch.tensor() rejects"
# kind = "error"
# symptom = "can't convert np.ndarray of type numpy.object_"
# messages = ["can.t convert np\\.ndarray of type numpy\\.(?:object_|str_)"]
# origin = "design"
# reports = [
#     "https://github.com/fastai/course22/issues/99",
#     "https://github.com/meta-pytorch/captum/issues/1325",
# ]
# documents = [
#     "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.values.html",
#     "https://pandas.pydata.org/docs/reference/api/pandas.get_dummies.html",
#     "https://github.com/JDAI-CV/DCL/issues/49",
# ]
# wrong = '''
# x = torch.tensor(frame.values, dtype=torch.float32)
# '''
# right = '''
# x = torch.tensor(frame.values.astype("float32"))
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A data frame of numbers cannot be converted (meta-pytorch/captum#1325), often after an upgrade to
pandas 2, whose get_dummies() returns bool columns (docs: pandas.get_dummies, fastai/course22#99).

An array has a single dtype. If numbers are mixed with bools or text, the dtype is object (docs:
DataFrame.values). The array then holds references to Python objects, which torch cannot read
whatever the dtype argument says (torch/csrc/utils/tensor_numpy.cpp). Calling astype() converts each
object to a number: False becomes 0. Because None becomes NaN, first call dropna() or fillna(). To
see the columns' types, print frame.dtypes.

If a column contains words, astype() raises an error that quotes one of them: encode this column, or
leave it out. Dates and pandas.NA raise an error too. An array of numeric strings needs astype() too
(JDAI-CV/DCL#49). If an array contains arrays of different shapes, astype() does not help: first
give them the same shape.
"""

from types import SimpleNamespace

import torch


def frame_of(rows):
    values = torch.zeros(len(rows), len(rows[0])).numpy().astype(object)
    for row, cells in zip(values, rows):
        row[:] = cells
    return SimpleNamespace(values=values)


def as_it_is(frame):
    x = torch.tensor(frame.values, dtype=torch.float32)
    return x


def as_float32(frame):
    x = torch.tensor(frame.values.astype("float32"))
    return x


def check(device, read):
    try:
        x = read(frame_of([[22.5, True, 3], [38.0, False, None]])).to(device)
    except TypeError as error:
        return str(error)
    if x.dtype != torch.float32 or x.nan_to_num(-1).tolist() != [[22.5, 1, 3], [38, 0, -1]]:
        return f"the rows are {x.tolist()}"


def reproduce(device):
    return check(device, as_it_is)


def control(device):
    return check(device, as_float32)


def messages(device):
    try:
        return str(torch.from_numpy(torch.zeros(2).numpy().astype(str)))
    except TypeError as error:
        return str(error)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
