# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A step counter in a compiled module makes torch.compile compile again in every step, up to its limit"
# kind = "silent"
# symptom = "graphs were compiled for 12 calls"
# messages = [
#     "torch\\._dynamo hit config\\.\\w{1,40}_limit \\(\\d{1,9}\\)",
#     "(?:recompile|cache_size)_limit reached with (?:fullgraph|one_graph)=True",
# ]
# keywords = [
#     "torch.compile recompiles every step",
#     "torch.compile is slow",
#     "torch.compile falls back to eager",
#     "increase cache_size_limit",
#     "recompile_limit reached",
#     "self.step += 1 recompiles",
#     "counter in forward torch.compile",
#     "every training step takes seconds with torch.compile",
#     "compiled model slower than the uncompiled one",
#     "iterations never get fast, compile keeps running",
#     "step time stays high long after warm-up",
#     "CPU busy compiling all the time, GPU idle",
#     "speed-up from torch.compile disappears after some steps",
#     "first eight iterations are very slow with compile",
#     "GPU utilisation low because it keeps recompiling",
#     "log full of recompilation messages each iteration",
#     "compile time dominates training",
#     "counting iterations inside the model makes compile slow",
#     "torch.compile gives no benefit for my module",
#     "spiking or EMA module with counter compiles endlessly",
#     "why does torch.compile recompile on every call",
# ]
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/115711",
#     "https://github.com/pytorch/pytorch/issues/128319",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/154867",
#     "https://github.com/meta-pytorch/torchrec/pull/4338",
#     "https://github.com/pytorch/pytorch/issues/121504",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/_dynamo/config.py",
# ]
# wrong = '''
# self.step = 0
# self.step += 1  # in forward()
# '''
# right = '''
# self.register_buffer("step", torch.zeros(()))
# self.step += 1  # in forward()
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.8", cuda = ">=2.8" }
# ///
"""Every call compiles a new graph, until Dynamo reaches its limit of eight, warns once and
runs the frame uncompiled (pytorch#128319 is the same counter with a few graphs, before
2.8).

An integer attribute of a module is a constant of the graph, guarded by its value
(allow_unspec_int_on_nn_module in torch/_dynamo/config.py, meta-pytorch/torchrec#4338).
A buffer is read each time (control). A higher limit, often tried first (pytorch#121504),
buys more compilations: one per call (popular fix).
"""

import torch


class Model(torch.nn.Module):
    def __init__(self, as_buffer):
        super().__init__()
        if as_buffer:
            self.register_buffer("step", torch.zeros(()))
        else:
            self.step = 0

    def forward(self, x):
        self.step += 1
        return x * 2


def count(device, as_buffer):
    torch._dynamo.reset()
    graphs, x = [], torch.ones(1, device=device)

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(Model(as_buffer).to(device), backend=backend)
    for _ in range(12):
        compiled(x)
    torch._dynamo.reset()
    if len(graphs) > 4:
        return f"{len(graphs)} graphs were compiled for 12 calls"


def reproduce(device):
    return count(device, as_buffer=False)


def control(device):
    return count(device, as_buffer=True)


def popular_fix(device):
    with torch._dynamo.config.patch(cache_size_limit=64):
        return count(device, as_buffer=False)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
