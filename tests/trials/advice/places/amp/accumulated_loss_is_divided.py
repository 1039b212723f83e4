"""Two epochs of windows of two batches, with the mean loss that each reports."""

SETTINGS = ("plain", "AdamW", "tied", "dropout", "bfloat16")
WINDOW = 2


def train(t, backward):
    loader, reported = t.batches[:4], []
    for _ in range(2):
        total = 0.0
        for i, (x, y) in enumerate(loader):
            with t.autocast():
                loss = t.loss(t.model(x), y)
            total = backward(loss, total, loader)
            if (i + 1) % WINDOW == 0:
                t.optimizer.step()
                t.optimizer.zero_grad()
        reported.append(total)
    return [reported, t.model.state_dict()]


def place(t):
    def backward(loss, total, loader):
        paste
        return total

    return train(t, backward)


def reference(t):
    def backward(loss, total, loader):
        loss.backward(loss.new_tensor(0.5))
        return total + float(loss) / 4

    return train(t, backward)
