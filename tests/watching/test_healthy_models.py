"""Healthy models that are close to a failure: no check has a finding above a note in them."""

import copy
import io

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.optim.swa_utils import AveragedModel, update_bn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset  # noqa: E402

from matrix.watching.run import watch  # noqa: E402

PROGRAMS = []


def healthy(program):
    PROGRAMS.append(program)
    return program


def train(model, loss_of, optimizer=None, steps=8):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()


class Apply(nn.Module):
    """A model of these parts, whose forward() is a function of the model and the input."""

    def __init__(self, forward, **parts):
        super().__init__()
        self._forward = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs):
        return self._forward(self, *inputs)


def mlp(inside=8, outside=3, *last):
    return nn.Sequential(nn.Linear(6, inside), nn.ReLU(), *last, nn.Linear(inside, outside))


def batch():
    return torch.randn(8, 6), torch.randint(3, (8,))


# ---- layers ----


@healthy
def a_padding_vector_that_a_mask_hides():
    def pooled(self, x):
        mask = (x != 0).float().unsqueeze(-1)
        return self.head((self.table(x) * mask).sum(1) / mask.sum(1))

    model = Apply(pooled, table=nn.Embedding(9, 6, padding_idx=0), head=nn.Linear(6, 3))
    nn.init.normal_(model.table.weight)
    x = torch.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
    train(model, lambda: F.cross_entropy(model(x), torch.tensor([0, 1, 2])))


@healthy
def a_tied_head_with_a_sum_of_losses():
    model = Apply(
        lambda self, x: self.head(self.table(x)), table=nn.Embedding(50, 16), head=nn.Linear(16, 50)
    )
    nn.init.normal_(model.table.weight, std=0.02)
    model.head.weight = model.table.weight
    x = torch.randint(50, (64,))
    train(model, lambda: F.cross_entropy(model(x), x.roll(-1), reduction="sum") / 64)


@healthy
def a_second_loss_beside_a_tied_head():
    model = Apply(
        lambda self, x: self.head(self.table(x)), table=nn.Embedding(50, 16), head=nn.Linear(16, 50)
    )
    nn.init.normal_(model.table.weight, std=0.02)
    model.head.weight = model.table.weight
    x, scores = torch.randint(50, (64,)), torch.linspace(0, 900, 30).view(10, 3)

    def loss():
        logits = model(x)
        distilled = F.cross_entropy(scores + logits.mean(), torch.zeros(10, dtype=torch.long))
        return F.cross_entropy(logits, x.roll(-1)) + 0.01 * distilled

    train(model, loss)


# ---- loss ----


@healthy
def two_tasks_with_their_own_numbers_of_labels():
    model = Apply(
        lambda self, x: (self.one(x), self.two(x)), one=nn.Linear(6, 3), two=nn.Linear(6, 5)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        (x, y), z = batch(), torch.randint(5, (8,))
        z[3:] = -100
        optimizer.zero_grad()
        first, second = model(x)
        F.cross_entropy(first, y).backward()
        F.cross_entropy(second, z).backward()
        optimizer.step()


@healthy
def pairs_of_equal_labels():
    model = nn.Linear(6, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        x, y = batch()
        z = F.normalize(model(x), dim=1)
        same = y.unsqueeze(1) == y
        if same.sum() > len(y):
            optimizer.zero_grad()
            (z @ z.T)[~same].sum().backward()
            optimizer.step()
            same.float().mean().item()


@healthy
def labels_of_two_views():
    model = nn.Linear(6, 4)
    for _ in range(3):
        x, y = batch()
        other = y.clone()
        same = y[:, None] == other
        model(x).square().mean().backward()
        same.float().mean().item()


@healthy
def a_view_into_as_many_tasks_as_classes():
    model = nn.Linear(6, 16)

    def loss():
        return F.cross_entropy(model(torch.randn(8, 6)).view(8, 4, 4), torch.randint(4, (8, 4)))

    train(model, loss)


@healthy
def an_image_as_wide_as_it_has_classes():
    model = nn.Conv2d(3, 8, 1)

    def loss():
        return F.cross_entropy(model(torch.randn(2, 3, 4, 8)), torch.randint(8, (2, 4, 8)))

    train(model, loss)


@healthy
def ctc_loss_of_padded_log_probabilities():
    model = nn.Linear(6, 5)

    def loss():
        rows = [model(torch.randn(n, 6)).log_softmax(-1) for n in (9, 6)]
        padded = nn.utils.rnn.pad_sequence(rows)
        return F.ctc_loss(padded, torch.tensor([[1, 2], [3, 4]]), (9, 6), (2, 2))

    train(model, loss)


@healthy
def a_loader_without_any_row_for_this_class():
    rows = TensorDataset(torch.randn(8, 2))
    for _ in DataLoader(rows, batch_size=4, sampler=SubsetRandomSampler([]), drop_last=True):
        pass


@healthy
def probabilities_that_are_computed_in_place():
    model = nn.Linear(6, 1)
    for _ in range(4):
        x, y = torch.randn(8, 6), torch.randint(2, (8, 1)).float()
        logits = model(x)
        F.binary_cross_entropy_with_logits(logits, y).backward()
        with torch.no_grad():
            predicted = logits.sigmoid_() > 0.5
            (predicted == y).float().mean().item()


@healthy
def a_regression_to_zero_and_one():
    model = nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        x = torch.randn(16, 6)
        y = (x[:, :1] > 0).float()
        optimizer.zero_grad()
        out = model(x)
        F.mse_loss(out, y).backward()
        optimizer.step()
        ((out > 0.5) == y).float().mean().item()


@healthy
def training_with_grad_that_prints_its_last_loss():
    model = nn.Linear(6, 3)
    rows = TensorDataset(torch.randn(12, 6), torch.randint(3, (12,)))
    for x, y in DataLoader(rows, batch_size=4, shuffle=True):
        loss = F.cross_entropy(model(x), y)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients):
                parameter -= 0.1 * gradient
    loss.item()


@healthy
def a_ranking_with_ties():
    model = nn.Linear(6, 1)

    def loss():
        first, second = model(torch.randn(8, 6)), model(torch.randn(8, 6))
        y = torch.tensor([1.0, -1, 0, 1, -1, 0, 1, -1]).unsqueeze(1)
        return F.margin_ranking_loss(first, second, y, margin=0.1)

    train(model, loss)


@healthy
def a_batch_without_a_target():
    model = nn.Linear(6, 1)

    def losses():
        yield from (F.mse_loss(model(torch.randn(8, 6)), torch.randn(8, 1)) for _ in range(3))
        yield torch.tensor(0.0, requires_grad=True)
        yield F.mse_loss(model(torch.randn(8, 6)), torch.randn(8, 1))

    found = losses()
    train(model, lambda: next(found), steps=5)


@healthy
def a_value_head_that_is_trained_later():
    model = Apply(
        lambda self, x: (self.policy(x), self.value(x)),
        policy=nn.Linear(6, 3),
        value=nn.Linear(6, 1),
    )
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x)[0], y), steps=20)


@healthy
def weights_of_classes_in_the_last_dimension():
    model = nn.Conv2d(3, 15, 1)

    def loss():
        out = model(torch.randn(2, 3, 5, 5)).view(2, 3, 5, 5, 5).permute(0, 1, 3, 4, 2)[:, :3]
        out = out[..., :3]
        y = torch.randint(2, out.shape).float()
        return F.binary_cross_entropy_with_logits(out, y, pos_weight=torch.tensor([1.0, 2, 3]))

    train(model, loss)


@healthy
def a_margin_that_is_kept():
    one, two = nn.Linear(6, 3), nn.Linear(6, 1)
    optimizer = torch.optim.AdamW([*one.parameters(), *two.parameters()])
    x, y = batch()

    def loss():
        return F.cross_entropy(one(x), y) + 0.5 * F.relu(two(x) - 100).mean()

    train(None, loss, optimizer)


# ---- modules ----


@healthy
def a_layer_norm_of_several_dimensions():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.LayerNorm([8, 4, 4]), nn.Flatten())
    train(model, lambda: model(torch.randn(2, 3, 6, 6)).square().mean())


@healthy
def a_fixed_blur():
    blur = nn.Conv2d(8, 8, 3, groups=8, bias=False)
    nn.init.constant_(blur.weight, 1 / 9)
    blur.requires_grad_(False)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), blur, nn.Flatten(), nn.Linear(32, 3))
    train(model, lambda: model(torch.randn(2, 3, 6, 6)).square().mean())


@healthy
def a_scale_per_channel():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(8, 1, 1))

        def forward(self, x):
            return x * self.weight

    model = nn.Sequential(nn.Conv2d(3, 8, 3), Scale())
    train(model, lambda: model(torch.randn(2, 3, 6, 6)).square().mean())


@healthy
def sharpness_aware_minimization():
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        x, y = batch()
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        moved = [(p, 0.05 * p.grad / p.grad.norm()) for p in model.parameters()]
        with torch.no_grad():
            for p, by in moved:
                p.add_(by)
        optimizer.zero_grad()
        model[1].momentum = 0
        F.cross_entropy(model(x), y).backward()
        model[1].momentum = 0.1
        with torch.no_grad():
            for p, by in moved:
                p.sub_(by)
        optimizer.step()


@healthy
def gates_of_zero():
    """The scheme of DiT: zero gates and a zero head, so the gates learn from the second step on."""

    def forward(self, x):
        for gate, block in zip(self.gates, self.blocks):
            x = x + gate(x) * block(x).tanh()
        return self.head(x)

    model = Apply(
        forward,
        gates=nn.ModuleList([nn.Linear(6, 6) for _ in range(3)]),
        blocks=nn.ModuleList([nn.Linear(6, 6) for _ in range(3)]),
        head=nn.Linear(6, 3),
    )
    for layer in (*model.gates, model.head):
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x), y))


@healthy
def statistics_of_an_averaged_model_are_updated():
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 3))
    average, rows = AveragedModel(model), DataLoader(torch.randn(32, 6), batch_size=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        for x in rows:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        average.update_parameters(model)
    update_bn(rows, average)
    average.eval()
    with torch.no_grad():
        average(torch.randn(4, 6))


@healthy
def samples_of_the_uncertainty():
    model = mlp(8, 3, nn.Dropout(0.5))
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x), y))
    model.train()
    with torch.no_grad():
        torch.stack([model(x) for _ in range(10)]).std(0)


@healthy
def a_mean_teacher():
    student = mlp(8, 3, nn.Dropout(0.5))
    teacher = copy.deepcopy(student)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for _ in range(8):
        optimizer.zero_grad()
        for _ in range(2):
            x, y = batch()
            with torch.no_grad():
                wanted = teacher(x + 0.1).softmax(1)
                more = teacher(x - 0.1).softmax(1)
            out = student(x)
            (F.cross_entropy(out, y) + F.mse_loss(out.softmax(1), (wanted + more) / 2)).backward()
        optimizer.step()
        with torch.no_grad():
            for p, q in zip(teacher.parameters(), student.parameters()):
                p.lerp_(q, 0.1)


@healthy
def checkpoints_outside_of_a_module():
    blocks = [nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.2)) for _ in range(3)]
    head = nn.Linear(6, 3)
    optimizer = torch.optim.SGD([*nn.ModuleList([*blocks, head]).parameters()], lr=0.1)

    def loss():
        x, y = batch()
        x.requires_grad_()
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return F.cross_entropy(head(x), y)

    train(None, loss, optimizer)


@healthy
def a_generator_and_its_critic_in_one_module():
    class Gan(nn.Module):
        def __init__(self):
            super().__init__()
            self.generator = nn.Linear(4, 6)
            self.critic = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))

        def forward(self, noise):
            return self.critic(self.generator(noise))

    gan = Gan()
    first = torch.optim.Adam(gan.generator.parameters())
    second = torch.optim.Adam(gan.critic.parameters())
    for _ in range(8):
        gan.critic.requires_grad_(True)
        second.zero_grad()
        (gan(torch.randn(8, 4)).mean() - gan.critic(torch.randn(8, 6)).mean()).backward()
        second.step()
        gan.critic.requires_grad_(False)
        first.zero_grad()
        (-gan(torch.randn(8, 4)).mean()).backward()
        first.step()


@healthy
def dropout_that_is_always_on():
    class Always(nn.Module):
        def forward(self, x):
            return F.dropout(x, 0.2, training=True)

    model = mlp(8, 3, Always())
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x), y))
    model.eval()
    with torch.no_grad():
        torch.stack([model(x) for _ in range(10)]).std(0)


@healthy
def a_dropout_layer_that_is_always_on():
    class Always(nn.Dropout):
        def train(self, mode=True):
            return super().train(True)

    model = mlp(8, 3, Always(0.2))
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x), y))
    model.eval()
    with torch.no_grad():
        torch.stack([model(x) for _ in range(10)]).std(0)


@healthy
def an_encoder_that_is_held_elsewhere():
    encoder = nn.Linear(6, 8)
    head = Apply(lambda self, x: self.last(encoder(x).relu()), last=nn.Linear(8, 3))
    x, y = batch()
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    train(head, lambda: F.cross_entropy(head(x), y), optimizer)


@healthy
def a_list_whose_layers_the_optimizer_gets():
    layers = [nn.Linear(6, 6), nn.Linear(6, 6)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)

    model = Apply(forward, layers=layers, head=nn.Linear(6, 3))
    held = [p for layer in layers for p in layer.parameters()]
    x, y = batch()
    optimizer = torch.optim.SGD([*held, *model.parameters()], lr=0.1)
    train(model, lambda: F.cross_entropy(model(x), y), optimizer)


@healthy
def one_head_for_all_levels():
    def forward(self, x):
        for block, head in zip(self.blocks, self.heads):
            x = block(x).relu()
            out = head(x)
        return out

    blocks = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])
    model = Apply(forward, blocks=blocks, head=nn.Linear(6, 3))
    model.heads = nn.ModuleList([model.head for _ in range(3)])
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x), y))


@healthy
def attention_over_the_instances_of_a_bag():
    def forward(self, bag):
        weights = torch.softmax(self.score(bag), dim=0)
        return self.head((weights * bag).sum(0, keepdim=True))

    model = Apply(forward, score=nn.Linear(6, 1), head=nn.Linear(6, 3))
    train(model, lambda: F.cross_entropy(model(torch.randn(9, 6)), torch.tensor([1])))


@healthy
def attention_over_the_steps_of_a_batch():
    def forward(self, x):
        scores = self.score(x).squeeze(-1)  # [steps, batch]
        return self.head((scores.softmax(0).unsqueeze(-1) * x).sum(0))

    model = Apply(forward, score=nn.Linear(6, 1), head=nn.Linear(6, 3))
    train(model, lambda: F.cross_entropy(model(torch.randn(5, 8, 6)), torch.randint(3, (8,))))


@healthy
def the_policy_of_one_state():
    model = mlp()
    x = torch.randn(6)
    with pytest.warns(UserWarning, match="Implicit dimension"):
        train(model, lambda: -F.softmax(model(x))[1], steps=3)


@healthy
def a_backbone_that_forward_sets_to_eval_mode():
    def forward(self, x):
        self.backbone.eval()
        return self.head(self.backbone(x))

    model = Apply(
        forward,
        backbone=nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.1)),
        head=nn.Linear(8, 3),
    )
    model.backbone.requires_grad_(False)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
    x, y = batch()
    train(model, lambda: F.cross_entropy(model(x), y), optimizer, steps=40)


# ---- numerics ----


@healthy
def a_warmup_of_bfloat16_weights():
    model = mlp().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 1e5))
    x, y = batch()
    for _ in range(8):
        optimizer.zero_grad()
        F.cross_entropy(model(x.bfloat16()).float(), y).backward()
        optimizer.step()
        schedule.step()


@healthy
def a_clip_of_a_part_without_parameters():
    model = mlp()
    x, y = batch()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        nn.utils.clip_grad_norm_(model[1].parameters(), 1.0)
        nn.utils.clip_grad_norm_((p for p in model.parameters() if p.dim() > 3), 1.0)
        frozen = filter(lambda p: not p.requires_grad, model.parameters())
        nn.utils.clip_grad_norm_(frozen, 1.0)
        optimizer.step()


@healthy
def a_step_that_is_skipped_for_one_of_two_optimizers():
    one, two = nn.Linear(6, 1), nn.Linear(6, 1)
    first, second = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (one, two))
    for step in range(4):
        first.zero_grad()
        second.zero_grad()
        one(torch.rand(8, 6)).mean().backward()
        (two(torch.rand(8, 6)).mean() * (float("inf") if step == 2 else 1)).backward()
        clip = nn.utils.clip_grad_norm_
        norms = [clip(each.parameters(), 1.0) for each in (one, two)]
        for norm, optimizer in zip(norms, (first, second)):
            if norm.isfinite():
                optimizer.step()


@healthy
def three_losses_of_different_sizes():
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    x = torch.randint(256, (8, 6)).float()
    for _ in range(8):
        optimizer.zero_grad()
        for weight in (0.001, 0.1, 10):
            (model(x) - 1).square().mean().mul(weight).backward()
        optimizer.step()


@healthy
def two_units_that_are_off():
    model = Apply(
        lambda self, x: self.head(x * self.gate(x).sigmoid()),
        gate=nn.Sequential(nn.Linear(6, 2), nn.ReLU(), nn.Linear(2, 6)),
        head=nn.Linear(6, 3),
    )
    nn.init.constant_(model.gate[0].weight, -0.1)
    x, y = torch.randint(256, (8, 6)).float(), batch()[1]
    train(model, lambda: F.cross_entropy(model(x), y))


# ---- rnn ----


class Recurrent(nn.Module):
    def __init__(self, last, out=3, **options):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, **options)
        self.last = last
        self.head = nn.Linear(out, 3)

    def forward(self, x):
        return self.head(self.last(*self.lstm(x)))


@healthy
def the_halves_of_two_ends():
    def last(output, state):
        return torch.cat([output[:, -1, :8], output[:, 0, 8:]], 1)

    model = Recurrent(last, 16, bidirectional=True, batch_first=True)
    x, y = torch.randn(8, 5, 6), torch.randint(3, (8,))
    train(model, lambda: F.cross_entropy(model(x), y))


@healthy
def the_forward_half_of_the_last_step():
    model = Recurrent(lambda o, s: o[:, -1, :8], 8, bidirectional=True, batch_first=True)
    x, y = torch.randn(8, 5, 6), torch.randint(3, (8,))
    train(model, lambda: F.cross_entropy(model(x), y))


@healthy
def a_tag_for_each_step_of_one_sentence():
    model = Recurrent(lambda output, state: output[:, 0], 8)
    x, y = torch.randn(7, 1, 6), torch.randint(3, (7,))
    train(model, lambda: F.cross_entropy(model(x), y))


@healthy
def the_states_of_a_batch_of_one():
    def last(output, state):
        return state[0].view(1, -1)

    model = Recurrent(last, 16, num_layers=2, batch_first=True)
    train(model, lambda: F.cross_entropy(model(torch.randn(1, 5, 6)), torch.tensor([1])))


@healthy
def a_projection_of_each_state():
    def last(output, state):
        return state[0].view(-1, 8)

    model = Recurrent(last, 8, num_layers=2, batch_first=True)
    x, y = torch.randn(4, 5, 6), torch.randint(3, (8,))
    train(model, lambda: F.cross_entropy(model(x), y))


@healthy
def adversarial_inputs_that_are_made_in_eval_mode():
    model = mlp(8, 3, nn.Dropout(0.3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        x, y = batch()
        model.eval()
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(F.cross_entropy(model(x), y), x)
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x.detach() + 0.1 * gradient.sign()), y).backward()
        optimizer.step()


@healthy
def a_critic_in_eval_mode_for_its_generator():
    generator = nn.Linear(4, 6)
    critic = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.Linear(8, 1))
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(critic.parameters())
    for _ in range(8):
        critic.train()
        second.zero_grad()
        fake = generator(torch.randn(8, 4))
        (critic(fake.detach()).mean() - critic(torch.randn(8, 6)).mean()).backward()
        second.step()
        critic.eval()
        first.zero_grad()
        (-critic(generator(torch.randn(8, 4))).mean()).backward()
        first.step()


@healthy
def a_norm_that_is_unfrozen_later():
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(4):
        model.train()
        model[1].train(epoch >= 2)
        model[1].requires_grad_(epoch >= 2)
        x, y = batch()
        train(model, lambda x=x, y=y: F.cross_entropy(model(x), y), optimizer, steps=2)


@healthy
def the_gradient_of_an_input_of_another_model():
    classifier = mlp(8, 3, nn.Dropout(0.3), nn.BatchNorm1d(8))
    energy = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)
    for _ in range(4):
        x, y = batch()
        x.requires_grad_()
        (gradient,) = torch.autograd.grad(energy(x).sum(), x)
        moved = x - gradient
        train(classifier, lambda x=moved, y=y: F.cross_entropy(classifier(x), y), optimizer, 1)


@healthy
def first_order_meta_learning():
    if not hasattr(torch, "func"):
        pytest.skip("this torch has no torch.func")
    model = mlp(8, 3, nn.Dropout(0.3), nn.BatchNorm1d(8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        weights = dict(model.named_parameters())
        for _ in range(3):
            x, y = batch()
            loss = F.cross_entropy(torch.func.functional_call(model, weights, (x,)), y)
            gradients = torch.autograd.grad(loss, list(weights.values()))
            weights = {n: w - 0.1 * g for (n, w), g in zip(weights.items(), gradients)}
        x, y = batch()
        optimizer.zero_grad()
        F.cross_entropy(torch.func.functional_call(model, weights, (x,)), y).backward()
        optimizer.step()


@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_healthy_program_has_no_finding(program, every_step):
    torch.manual_seed(0)
    with watch(stream=io.StringIO(), every_step=every_step) as run:
        program()
    assert run.findings.failed == {}
    assert [each.text() for each in run.findings if each.level != "note"] == []
