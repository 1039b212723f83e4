"""Token ids with new words: a table that is fine-tuned, and a frozen one with rows of length 1."""

import torch

SETTINGS = ("plain", "AdamW", "bfloat16", "short last batch")


def batches(t):
    """Of each row, three ids of 0 to 3 or 6: the vocabulary has a gap."""
    ids = [(x[:, :3] * 2).long().clamp(0, 4) for x, _ in t.batches]
    return [torch.where(one == 4, 6, one) for one in ids]


def start(frozen=False):
    embedding = torch.nn.Embedding(3, 8, padding_idx=0, max_norm=1.0 if frozen else None)
    return embedding.requires_grad_(not frozen)


def fine_tune(t, embedding, look_up):
    """What is looked up before each step, and the trained rows after the last."""
    t.model = t.watched(torch.nn.Sequential(embedding, torch.nn.Linear(8, 4)))
    t.groups = [{"params": [p], "lr": 0.1} for p in t.model.parameters()]
    seen = []
    for ids, (_, y) in zip(batches(t), t.batches):
        t.optimizer.zero_grad()
        vectors = look_up(embedding, ids)
        with t.autocast():
            t.loss(t.model[1](vectors.sum(1)), y).backward()
        t.optimizer.step()
        seen.append(vectors.detach().clone())
    return [seen, embedding.weight.detach()[:3].clone()]


def place(t):
    vocabulary = {"<pad>": 0, "the": 1, "cat": 2, "dog": 3, "<image>": 6}
    ids, tables = batches(t)[0], []
    for embedding in (start(), start(frozen=True)):
        paste
        tables.append(embedding)
    lengths = tables[1](torch.arange(1, 7)).norm(dim=1)
    tables_are = [(table.weight.requires_grad, table.num_embeddings) for table in tables]
    return fine_tune(t, tables[0], lambda table, ids: table(ids)), tables_are, lengths


def reference(t):
    old, _ = start(), start(frozen=True)
    rows = [old.weight[n] if n < 3 else old.weight.mean(0) for n in range(7)]
    embedding = torch.nn.Embedding(7, 8, padding_idx=0, _weight=torch.stack(rows).detach())

    def look_up(table, ids):
        return torch.nn.functional.embedding(ids, table.weight, padding_idx=0)

    return fine_tune(t, embedding, look_up), [(True, 7), (False, 7)], torch.ones(6)
