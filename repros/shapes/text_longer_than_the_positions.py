# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A transformer fails for a text with more tokens than its position embedding has rows"
# kind = "error"
# symptom = "The size of tensor a \\(6\\) must match the size of tensor b \\(4\\) at non-singleton dimension 1"
# messages = [
#     "The size of tensor a \\(\\d{1,9}\\) must match the size of tensor b \\(\\d{1,9}\\) at non-singleton dimension \\d",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/huggingface/transformers/issues/11915",
#     "https://github.com/huggingface/sentence-transformers/issues/929",
#     "https://github.com/PlayVoice/vits_chinese/issues/112",
#     "https://github.com/SamLynnEvans/Transformer/issues/14",
# ]
# documents = [
#     "https://huggingface.co/docs/transformers/pad_truncation",
# ]
# wrong = '''
# x = words(tokens) + positions[:, : tokens.shape[1]]  # positions of shape [1, 4, width]
# '''
# right = '''
# longest = positions.shape[1]
# tokens, mask = tokens[:, :longest], mask[:, :longest]
# x = words(tokens) + positions[:, : tokens.shape[1]]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The model works until a batch contains a text that is too long. The second number in the message
is the number of rows of the position embedding: 512 for BERT (PlayVoice/vits_chinese#112).

A slice beyond the end of a tensor raises no error, but returns only the rows that exist. The
addition then cannot broadcast these rows to the tokens (aten/src/ATen/ExpandUtils.cpp).

No positions beyond that number were trained, so cut the tokens and their mask. If each token has a
label, cut the labels too. A Hugging Face tokenizer does this with truncation=True and max_length
(docs: pad_truncation). The slice drops the last tokens, including BERT's [SEP]. To keep the whole
text, split it into pieces. A model that generates text needs the last tokens instead, tokens[:,
-longest:]. With the first tokens, it predicts the same token again and again, without an error. If
the batch is the second dimension, cut the first dimension. Positions that are sines and cosines
have no limit: compute more of them, with a larger max_seq_len (SamLynnEvans/Transformer#14).
"""

import torch


def start(device, length):
    words = torch.nn.Embedding(9, 3).to(device)
    tokens = torch.arange(2 * length, device=device).view(2, length) % 9
    mask = tokens != 0
    return words, tokens, mask, torch.ones(1, 4, 3, device=device)


def too_long(words, tokens, mask, positions):
    x = words(tokens) + positions[:, : tokens.shape[1]]  # positions of shape [1, 4, width]
    return x, mask


def truncated(words, tokens, mask, positions):
    longest = positions.shape[1]
    tokens, mask = tokens[:, :longest], mask[:, :longest]
    x = words(tokens) + positions[:, : tokens.shape[1]]
    return x, mask


def check(device, embed):
    for length in (3, 6):
        words, tokens, mask, positions = start(device, length)
        try:
            x, mask = embed(words, tokens, mask, positions)
        except RuntimeError as error:
            return str(error)
        kept = [[words.weight[n] + 1 for n in row[:4]] for row in tokens.tolist()]
        if not torch.allclose(x, torch.stack([torch.stack(row) for row in kept])):
            return "the first four tokens have other embeddings"
        if mask.tolist() != [[n != 0 for n in row[:4]] for row in tokens.tolist()]:
            return "the mask does not fit the tokens"


def reproduce(device):
    return check(device, too_long)


def control(device):
    return check(device, truncated)


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
