# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "scaled_dot_product_attention applies its dropout_p even after model.eval()"
# kind = "silent"
# symptom = "two calls in eval mode differ"
# origin = "design"
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
# ]
# wrong = '''
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)
# '''
# right = '''
# dropout = self.dropout if self.training else 0.0
# y = torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
# '''
# requires = ">=2.0"
# rule = "error"
# when = "dropout_p is above 0, and the model is used in eval mode"
# affected = { cpu = ">=2.0", cuda = ">=2.0", mps = ">=2.0" }
# ///
"""Predictions are random after model.eval(), and worse than they should be.

A function does not know the mode of the module that calls it, so this function always applies its
dropout_p (docs: torch.nn.functional.scaled_dot_product_attention). In eval mode,
nn.MultiheadAttention and the transformer layers pass 0.0. If self.dropout is an nn.Dropout, its
rate is self.dropout.p. The same applies to F.dropout() without training= (see
modules/functional_dropout_in_eval_mode).
"""

import torch


class Attention(torch.nn.Module):
    dropout = 0.5

    def forward(self, q, k, v):
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout)
        return y


class SwitchedAttention(Attention):
    def forward(self, q, k, v):
        dropout = self.dropout if self.training else 0.0
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
        return y


def check(device, attention):
    x = torch.linspace(-1, 1, 256, device=device).reshape(1, 1, 32, 8)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if attention.train()(x, x, x).equal(attention(x, x, x)):
            return "no dropout in training"
        if not attention.eval()(x, x, x).equal(attention(x, x, x)):
            return "two calls in eval mode differ"


def reproduce(device):
    return check(device, Attention())


def control(device):
    return check(device, SwitchedAttention())


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
