# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "LBFGS with strong_wolfe calls the closure more often than max_eval allows"
# kind = "silent"
# symptom = "closure was called [0-9]{2} times with max_eval=3"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/91581"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/161488",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lbfgs.py",
# ]
# fixed_by = "pytorch#161488"
# wrong = '''
# optimizer = torch.optim.LBFGS([x], max_eval=3, line_search_fn="strong_wolfe")
# '''
# fix = "upgrade"
# affected = { cpu = "<2.10", cuda = "<2.10", mps = "<2.10" }
# ///
"""One step of LBFGS can evaluate the model many more times than max_eval allows.

The line search limits its own evaluations to max_ls, 25 by default. However, step() did not tell
the line search how many evaluations max_eval still allowed (torch/optim/lbfgs.py, pytorch#91581).
The step therefore exceeds max_eval by the evaluations of its last line search. The excess is large
with a small lr, as here, and small if the line searches are short.

Since the upstream fix, the step sometimes still exceeds max_eval by one, for example on
Rosenbrock's function with lr=1e-3 and a max_eval of 2, 5 or 10. A max_eval of 1 leads to 2
evaluations of this function, with and without a line search.
"""

import torch


def count_calls(device, line_search):
    x = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], lr=1e-9, max_eval=3, line_search_fn=line_search)
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = (x * x - 2 * x).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    if calls > 5:
        return f"closure was called {calls} times with max_eval=3"


def reproduce(device):
    return count_calls(device, "strong_wolfe")


def control(device):
    return count_calls(device, None)


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
