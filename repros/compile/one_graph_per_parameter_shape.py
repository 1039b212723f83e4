# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A compiled optimizer function is compiled again for every shape of parameter, up to the limit"
# kind = "silent"
# symptom = "graphs were compiled for 12 shapes"
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
#     "compiled optimizer recompiles",
#     "Guard failed on a parameter",
#     "CacheLimitExceeded",
#     "FailOnRecompileLimitHit",
#     "Muon optimizer torch.compile",
#     "first optimizer step takes minutes with torch.compile",
#     "compiled update function compiles once per layer",
#     "startup takes forever with my compiled optimizer",
#     "optimizer step slow for big model with many layers",
#     "custom optimizer compiled is slower than plain Python",
#     "compiling repeats for every weight matrix",
#     "warm-up time grows with the number of different layers",
#     "newton schulz function compiles again and again",
#     "compile is fine for toy models, slow for real ones",
#     "dynamic=True does not stop the recompilations",
#     "step time high in the first iteration for each layer",
# ]
# origin = "design"
# reports = ["https://github.com/microsoft/dion/issues/23"]
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/_dynamo/config.py",
#     "https://github.com/HomebrewML/HeavyBall/issues/16",
#     "https://github.com/PrimeIntellect-ai/prime-rl/pull/1778",
# ]
# wrong = '''
# decay(p)  # p: a torch.nn.Parameter
# '''
# right = '''
# decay(p.detach())
# '''
# requires = ">=2.1"
# affected = { cpu = ">=2.1", cuda = ">=2.1" }
# ///
"""Sizes become dynamic when they change, but not those of a parameter: each one is a
constant of the graph (force_parameter_static_shapes in torch/_dynamo/config.py). At its
limit, eight graphs, or 64 in 2.1, Dynamo runs the function uncompiled, or raises with
fullgraph=True (microsoft/dion#23).

A tensor that is no parameter has dynamic sizes (control). A higher limit
(HomebrewML/HeavyBall#16, PrimeIntellect-ai/prime-rl#1778) compiles once per shape
(popular fix).
"""

import torch


def count(device, convert):
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    decay = torch.compile(lambda p: p * 0.9, backend=backend)
    for size in range(2, 14):
        p = torch.nn.Parameter(torch.ones(size, device=device))
        decay(convert(p))
    torch._dynamo.reset()
    if len(graphs) > 4:
        return f"{len(graphs)} graphs were compiled for 12 shapes"


def reproduce(device):
    return count(device, lambda p: p)


def control(device):
    return count(device, lambda p: p.detach())


def popular_fix(device):
    with torch._dynamo.config.patch(cache_size_limit=64):
        return count(device, lambda p: p)


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
