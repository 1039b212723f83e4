"""Two heads whose losses are weighted by name, first with a misspelt name."""

SETTINGS = ("plain", "AdamW", "dropout", "accumulation", "bfloat16", "short last batch")


def train(t, loss_of):
    for number, (x, y) in enumerate(t.batches, 1):
        with t.autocast():
            hidden = t.model.norm(t.model.body(x)).relu()
            head, tail = t.model.head(hidden), t.model.tail(t.model.dropout(hidden))
            losses = {"loss_ce": t.loss(head, y), "loss_points": t.loss(tail, y)}
            losses["error"] = (head.argmax(1) != y).float().mean()
            loss = loss_of(losses, {"loss_ce": 1.0, "loss_points": 0.5})
        (loss / t.setting.window).backward()
        if number % t.setting.window == 0:
            t.optimizer.step()
            t.optimizer.zero_grad()
    return [*t.model.head.parameters(), *t.model.tail.parameters()]


def place(t):
    def loss_of(losses, weights):
        paste
        return loss

    try:
        loss_of({"loss_ce": 1.0, "loss_points": 1.0}, {"loss_ce": 1.0, "loss_point": 0.5})
        refused = False
    except LookupError:
        refused = True
    return [refused, train(t, loss_of)]


def reference(t):
    return [True, train(t, lambda losses, _: losses["loss_ce"] + 0.5 * losses["loss_points"])]
