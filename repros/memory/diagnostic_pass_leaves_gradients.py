# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A diagnostic backward before training leaves a gradient for every parameter"
# kind = "leak"
# symptom = "MiB of gradients"
# keywords = [
#     "first step has the wrong gradient",
#     "memory after backward",
#     "memory is higher before training even starts",
#     "model summary or sanity check doubles the memory",
#     "sanity run before training changes the results",
#     "memory used after a test backward is never freed",
#     "gpu memory higher after computing gradient norms once",
#     "learning rate finder or dry run leaves memory behind",
#     "gradients present before the first iteration",
#     "first update is larger than expected after a dry run",
#     "warmup backward pass uses memory for good",
#     "saliency map computation keeps gradients of all weights",
#     "profiling pass before the loop eats memory",
#     "fewer samples fit after a trial backward pass",
# ]
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
#     "https://github.com/karpathy/nanoGPT/pull/71",
# ]
# wrong = '''
# model(x).sum().backward()  # only to look at something
# '''
# right = '''
# model(x).sum().backward()
# model.zero_grad(set_to_none=True)
# '''
# fix = "memory.scratch_gradients"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""After the pass, the gradients take as much memory as the parameters, and the next backward
adds to them (docs: torch.Tensor.backward).

They stay until zero_grad(set_to_none=True) drops them (karpathy/nanoGPT#71).
"""

import torch


def held_after(device, clean_up):
    model = torch.nn.Linear(1024, 1024).to(device)
    x = torch.ones(1, 1024, device=device)
    model(x).sum().backward()  # the diagnostic pass
    clean_up(model)
    held = sum(4 * one.grad.numel() for one in model.parameters() if one.grad is not None)
    if held:
        return f"{held / 2**20:.0f} MiB of gradients held"


def reproduce(device):
    return held_after(device, lambda model: None)


def control(device):
    return held_after(device, lambda model: model.zero_grad(set_to_none=True))


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
