"""Two epochs of a plain loop, compared with one that removes the gradients by hand."""

SETTINGS = ("plain", "AdamW", "tensor lr", "tied", "frozen norm", "dropout", "short last batch")


def place(t):
    model, optimizer, loss_fn, loader = t.model, t.optimizer, t.loss, t.batches
    for _ in range(2):
        paste
    return model.state_dict()


def reference(t):
    for x, y in t.batches + t.batches:
        for parameter in t.model.parameters():
            parameter.grad = None
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()
