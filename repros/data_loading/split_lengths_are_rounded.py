# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "random_split() fails because int() rounds both lengths down and a row is left over"
# kind = "error"
# symptom = "Sum of input lengths does not equal the length of the input dataset"
# messages = ["Sum of input lengths does not equal the length of the input dataset"]
# origin = "design"
# reports = ["https://github.com/HUST-NingKang-Lab/MGM/issues/2"]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/128116",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/utils/data/dataset.py",
#     "https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split",
# ]
# wrong = '''
# lengths = [int(0.8 * len(dataset)), int(0.2 * len(dataset))]
# train_set, validation_set = random_split(dataset, lengths)
# '''
# right = '''
# validation = int(0.2 * len(dataset))
# lengths = [len(dataset) - validation, validation]
# train_set, validation_set = random_split(dataset, lengths)
# '''
# rule = "error"
# when = "the lengths are not whole numbers"
# affected = { cpu = ">=1.13" }
# ///
"""The split works for one dataset but fails for another with a few more rows.

random_split() needs lengths that add up to the length of the dataset (torch/utils/data/dataset.py).
The function int() rounds down, so 80 % and 20 % of 7 rows become 5 rows and 1 row. Calculate one
length by subtraction. Rounding with round() fails for other lengths: both halves of 7 rows are
rounded to 4. With fewer than 5 rows the corrected code's validation set is empty.

Since torch 1.13, random_split(dataset, [0.8, 0.2]) works too (docs: torch.utils.data.random_split).
Fractions whose sum exceeds 1 lead to the same error. Because of rounding, even a sum of twenty
fractions of 0.05 is 1.0000000000000002 in Python 3.11 (pytorch#128116).
"""

from torch.utils.data import random_split


def split(dataset):
    lengths = [int(0.8 * len(dataset)), int(0.2 * len(dataset))]
    train_set, validation_set = random_split(dataset, lengths)
    return train_set, validation_set


def split_by_subtraction(dataset):
    validation = int(0.2 * len(dataset))
    lengths = [len(dataset) - validation, validation]
    train_set, validation_set = random_split(dataset, lengths)
    return train_set, validation_set


def check(split_of, rows):
    try:
        parts = split_of(range(rows))
    except ValueError as error:
        return str(error)
    lengths = [len(part) for part in parts]
    numbers = sorted(row for part in parts for row in part)
    if lengths != [rows - rows // 5, rows // 5] or numbers != [*range(rows)]:
        return f"{rows} rows are split into {lengths}"


def reproduce(device):
    return check(split, 10) or check(split, 7)


def control(device):
    return check(split_by_subtraction, 10) or check(split_by_subtraction, 7)


def messages(device):
    rounded = check(lambda rows: random_split(rows, [round(0.5 * len(rows))] * 2), 7)
    fractions = check(lambda rows: random_split(rows, [0.05] * 20), 100)
    return f"{rounded}\n{fractions}"


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
