# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "After load_state_dict(assign=True), every later load of the same state_dict() assigns too"
# kind = "silent"
# symptom = "the optimizer's step leaves the loaded model as it was"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/188166"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py",
#     "https://github.com/pytorch/pytorch/pull/195990",
# ]
# wrong = '''
# teacher.load_state_dict(state, assign=True)
# student.load_state_dict(state)  # after optimizer = SGD(student.parameters(), lr=1.0)
# '''
# right = '''
# import copy
# teacher.load_state_dict(copy.deepcopy(state), assign=True)
# student.load_state_dict(state)  # after optimizer = SGD(student.parameters(), lr=1.0)
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.1", cuda = ">=2.1", mps = ">=2.1" }
# ///
"""A model is loaded from a dict with assign=True, and then a second model is loaded from the same
dict without this argument. The second model no longer trains if its optimizer was created before
the load, because the optimizer and the model no longer hold the same parameters.

The first load_state_dict() stores the value of assign in the _metadata of the caller's dict
(torch/nn/modules/module.py), so the second load replaces the parameters instead of copying into
them. The stored value also survives torch.save() (pytorch#188166). A dict without _metadata, such
as dict(state), is not marked, even if `state` itself is marked.
"""

import copy

import torch


def start(device):
    teacher, student = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2).to(device)
    optimizer = torch.optim.SGD(student.parameters(), lr=1.0)
    return teacher, student, optimizer, torch.nn.Linear(2, 2).to(device).state_dict()


def check(student, optimizer, state):
    before = state["weight"].clone()
    student(torch.ones(1, 2, device=before.device)).sum().backward()
    optimizer.step()
    if torch.equal(student.weight, before):
        return "the optimizer's step leaves the loaded model as it was"
    if not torch.allclose(student.weight, before - 1) or not torch.equal(state["weight"], before):
        return "the step is not that of the loaded weights, or changes the state"


def reproduce(device):
    teacher, student, optimizer, state = start(device)
    teacher.load_state_dict(state, assign=True)
    student.load_state_dict(state)  # after optimizer = SGD(student.parameters(), lr=1.0)
    return check(student, optimizer, state)


def control(device):
    teacher, student, optimizer, state = start(device)
    teacher.load_state_dict(copy.deepcopy(state), assign=True)
    student.load_state_dict(state)  # after optimizer = SGD(student.parameters(), lr=1.0)
    return check(student, optimizer, state)


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
