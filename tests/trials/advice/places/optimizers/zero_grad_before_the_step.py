"""Two epochs of a plain loop, compared with one that removes the gradients by hand."""

SETTINGS = ("plain", "AdamW", "tensor lr", "tied", "frozen norm", "dropout", "short last batch")


def place(t):
    model, optimizer = t.model, t.optimizer
    for x, y in t.batches + t.batches:
        loss = t.loss(model(x), y)
        paste
    return model.state_dict()


def reference(t):
    for x, y in t.batches + t.batches:
        for parameter in t.model.parameters():
            parameter.grad = None
        t.loss(t.model(x), y).backward()
        t.optimizer.step()
    return t.model.state_dict()
