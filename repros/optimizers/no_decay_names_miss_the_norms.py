# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = 'no_decay = ["bias", "LayerNorm.weight"] misses norms with other names'
# kind = "silent"
# symptom = "the weight of norm1 decays"
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/transformers/issues/42754",
#     "https://github.com/huggingface/transformers/issues/16908",
# ]
# documents = ["https://github.com/deepspeedai/DeepSpeedExamples/pull/755"]
# wrong = '''
# no_decay = ["bias", "LayerNorm.weight"]
# decayed = [p for n, p in model.named_parameters() if not any(part in n for part in no_decay)]
# kept = [p for n, p in model.named_parameters() if any(part in n for part in no_decay)]
# '''
# right = '''
# decayed = [p for p in model.parameters() if p.ndim > 1]
# kept = [p for p in model.parameters() if p.ndim < 2]
# '''
# rule = "warning"
# when = "the model has norms with other names"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Weight decay pulls the norms' weights toward 0, although a second group should exempt them.

These names come from BERT. Other models call their norms ln_f or layer_norm
(huggingface/transformers#42754, deepspeedai/DeepSpeedExamples#755). TransformerEncoderLayer calls
them norm1 and norm2, and in a Sequential, they have only a number. Conversely, "bn" also matches
the name of a layer called subnet. Usually, biases and norm weights have one dimension, and weights
that should decay have two or more, whatever their names. The weight of a LayerNorm over several
dimensions, bias_k and bias_v of MultiheadAttention, and weight_g of weight_norm() have more
dimensions, so they decay. With FullyShardedDataParallel all shards are flat, so nothing would
decay. Other vectors, such as a learned scale, are exempt as well. An optimizer state that was saved
with the old groups does not fit the new ones.
"""

import torch


def start(device):
    return torch.nn.TransformerEncoderLayer(4, 2, 4).to(device)


def check(model, decayed, kept):
    groups = [{"params": decayed}, {"params": kept, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=0.1, weight_decay=0.1)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    moved = {name for name, p in model.named_parameters() if not p.equal(before[name])}
    if "norm1.weight" in moved:
        return "the weight of norm1 decays"
    layers = {"self_attn.out_proj.weight", "linear1.weight", "linear2.weight"}
    if moved != layers | {"self_attn.in_proj_weight"}:
        return f"these parameters decay: {sorted(moved)}"


def reproduce(device):
    model = start(device)
    no_decay = ["bias", "LayerNorm.weight"]
    decayed = [p for n, p in model.named_parameters() if not any(part in n for part in no_decay)]
    kept = [p for n, p in model.named_parameters() if any(part in n for part in no_decay)]
    return check(model, decayed, kept)


def control(device):
    model = start(device)
    decayed = [p for p in model.parameters() if p.ndim > 1]
    kept = [p for p in model.parameters() if p.ndim < 2]
    return check(model, decayed, kept)


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
