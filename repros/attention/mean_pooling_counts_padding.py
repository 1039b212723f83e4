# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "hidden.mean(1) includes the padding, so an embedding changes with the longest text of its batch"
# kind = "silent"
# symptom = "the embedding changes with the padding"
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/transformers/issues/17463",
#     "https://github.com/jsboige/CoursIA/issues/15045",
# ]
# documents = [
#     "https://github.com/huggingface/sentence-transformers/issues/230",
#     "https://pypi.org/project/torchtest2/",
# ]
# wrong = '''
# hidden = encoder(ids, mask)  # [batch, time, features], mask: 1 for a token, 0 for padding
# embedding = hidden.mean(1)
# '''
# right = '''
# hidden = encoder(ids, mask)  # [batch, time, features], mask: 1 for a token, 0 for padding
# real = mask.bool().unsqueeze(-1)
# embedding = hidden.masked_fill(~real, 0).sum(1) / real.sum(1).clamp(min=1)
# '''
# rule = "note"
# when = "the sequences of a batch have different lengths"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A text gets one embedding on its own, and a different one in a batch with a longer text.

The encoder's mask keeps the tokens from attending to the padding. However, the encoder still
returns an output at each padded position, and this output is usually not zero
(huggingface/transformers#17463). Moreover, mean() divides by the number of all positions. A maximum
over the positions needs the mask too. In torch 1.13, nn.TransformerEncoder in eval mode shortens
its output to the longest text: shorten the mask with mask[:, :hidden.shape[1]]. In float16, the sum
can overflow even if mean() does not: use hidden.float(). In the mask of the corrected code, 1 or
True means a token, as in the masks of tokenizers. Invert a key_padding_mask of PyTorch, in which
True means padding (docs: torch.nn.MultiheadAttention).
"""

import torch


def mean_of_all(encoder, ids, mask):
    hidden = encoder(ids, mask)  # [batch, time, features], mask: 1 for a token, 0 for padding
    embedding = hidden.mean(1)
    return embedding


def mean_of_tokens(encoder, ids, mask):
    hidden = encoder(ids, mask)  # [batch, time, features], mask: 1 for a token, 0 for padding
    real = mask.bool().unsqueeze(-1)
    embedding = hidden.masked_fill(~real, 0).sum(1) / real.sum(1).clamp(min=1)
    return embedding


def check(device, pool):
    table = torch.arange(12.0, device=device).view(6, 2).cos()

    def encoder(ids, mask):
        return table[ids]

    texts = [torch.tensor(ids, device=device) for ids in ([1, 2], [3, 4, 5, 1])]
    ids = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    embedding = pool(encoder, ids, (ids != 0).long())
    alone = torch.stack([table[text].mean(0) for text in texts])
    if not torch.allclose(embedding[1], alone[1]):
        return "the text without padding has another embedding"
    if not torch.allclose(embedding, alone):
        return "the embedding changes with the padding"


def reproduce(device):
    return check(device, mean_of_all)


def control(device):
    return check(device, mean_of_tokens)


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
