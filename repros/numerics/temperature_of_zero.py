# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Sampling with a temperature of 0 divides by zero, and multinomial() rejects the NaN"
# kind = "error"
# symptom = "probability tensor contains either `inf`, `nan` or element < 0"
# messages = ["probability tensor contains either .?inf.?, .?nan.? or element < ?0"]
# origin = "usage"
# reports = [
#     "https://github.com/karpathy/nanoGPT/issues/738",
#     "https://github.com/suno-ai/bark/issues/270",
#     "https://github.com/vllm-project/vllm/issues/1623",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.multinomial.html",
#     "https://github.com/karpathy/nanoGPT/pull/739",
#     "https://github.com/pytorch/pytorch/issues/7014",
# ]
# wrong = '''
# probabilities = torch.softmax(logits / temperature, dim=-1)
# token = torch.multinomial(probabilities, num_samples=1)
# '''
# right = '''
# if temperature > 1e-5:
#     probabilities = torch.softmax(logits.float() / temperature, dim=-1)
#     token = torch.multinomial(probabilities, num_samples=1)
# else:  # the most likely token
#     token = logits.argmax(dim=-1, keepdim=True)
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A language model generates text at temperature 0.8, but fails at 0, where people expect the most
likely token (karpathy/nanoGPT#738).

The quotient logits / 0 is inf or -inf. The softmax of inf is inf / inf, which is NaN, and
multinomial() rejects NaN (docs: torch.multinomial). On CUDA the error can be a device-side
assertion (pytorch#7014). In the limit of low temperatures, all probability is on the largest logit,
so argmax() is right.

If the error occurs at an ordinary temperature, print logits.amax(dim=-1) before the division. A
value of nan or inf comes from a float16 overflow or from broken weights, and -inf means that every
token of the row is masked. It is fine to mask some of the tokens with -inf. The corrected code
needs the same temperature for all rows. Adding 1e-9 to the temperature, as in suno-ai/bark#270,
works in float32. In float16 the quotient exceeds 65504, so it is inf again (compare
vllm-project/vllm#1623).
"""

import torch


def sample(logits, temperature):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    token = torch.multinomial(probabilities, num_samples=1)
    return token


def sample_or_argmax(logits, temperature):
    if temperature > 1e-5:
        probabilities = torch.softmax(logits.float() / temperature, dim=-1)
        token = torch.multinomial(probabilities, num_samples=1)
    else:  # the most likely token
        token = logits.argmax(dim=-1, keepdim=True)
    return token


def check(device, sample, temperature, dtype=torch.float32):
    logits = torch.tensor([[1.0, 7.0, 2.0], [9.0, 3.0, 3.0]], device=device, dtype=dtype)
    try:
        token = sample(logits, temperature)
    except RuntimeError as error:
        return str(error)
    if token.tolist() != [[1], [0]]:
        return f"the tokens are {token.tolist()}"


def reproduce(device):
    return check(device, sample, 0.0)


def control(device):
    for temperature in (0, 0.0, 1e-4, 0.01):  # at 0.01 the other tokens have a probability of 0
        wrong = check(device, sample_or_argmax, temperature)
        wrong = wrong or check(device, sample_or_argmax, temperature, torch.float16)
        if wrong:
            return wrong


def popular_fix(device):
    def with_epsilon(logits, temperature):
        quotient = logits / (temperature + 1e-9)
        return sample(quotient.float(), 1)  # the CPU of old releases has no softmax of float16

    return check(device, with_epsilon, 0.0, torch.float16)


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
