import torch
from torch.nn.functional import mse_loss
from .helpers import set_seed


def in_each_epoch(model, loader, optimizer):
    for _epoch in range(10):
        torch.manual_seed(42)  # finds seed_inside_the_loop
        for x, y in loader:
            optimizer.zero_grad()
            mse_loss(model(x), y).backward()
            optimizer.step()


def noise_of_each_step(model, batches, optimizer, device):
    for batch in batches:
        generator = torch.Generator(device=device).manual_seed(0)  # finds seed_inside_the_loop
        noise = torch.randn(batch.shape, generator=generator, device=device)
        loss = mse_loss(model(batch + noise), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def one_step(model, x, optimizer):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()


def by_a_helper(model, loader, optimizer, args):
    for _step, x in enumerate(loader):
        set_seed(args.seed)  # finds seed_inside_the_loop
        one_step(model, x, optimizer)


def another_seed_for_each_epoch(model, loader, optimizer, seed):
    for epoch in range(10):
        torch.manual_seed(seed + epoch)
        for x in loader:
            one_step(model, x, optimizer)


def one_run_for_each_fold(model, folds, optimizer):
    for fold in folds:
        torch.manual_seed(0)
        one_step(model, fold, optimizer)


def one_run_for_each_size(model, batches, optimizer):
    for batch_size in [8, 16, 32]:
        torch.manual_seed(0)
        one_step(model, batches[batch_size], optimizer)


def one_run_for_each_length(model, x, optimizer):
    for num_epochs in range(10, 60, 10):
        torch.manual_seed(0)
        for _ in range(num_epochs):
            one_step(model, x, optimizer)


def only_at_first(model, loader, optimizer):
    for step, x in enumerate(loader):
        if step == 0:
            torch.manual_seed(0)
        one_step(model, x, optimizer)


def only_in_the_first_case(model, loader, optimizer):
    for step, x in enumerate(loader):
        match step:
            case 0:
                torch.manual_seed(0)
        one_step(model, x, optimizer)


def samples_to_look_at(pipeline, prompts):
    for _epoch in range(10):
        generator = torch.Generator().manual_seed(0)
        pipeline(prompts, generator=generator)


def the_same_noise_to_compare(model, steps):
    for _step in range(steps):
        generator = torch.Generator().manual_seed(0)
        print(model(torch.randn(4, generator=generator)).mean())


def put_back_after(model, loader, optimizer):
    for x in loader:
        state = torch.get_rng_state()
        torch.manual_seed(0)
        torch.set_rng_state(state)
        one_step(model, x, optimizer)


def compared_with_another(model, other, steps):
    for _step in range(steps):
        torch.manual_seed(0)
        a = model(torch.randn(3)).sum()
        torch.manual_seed(0)
        b = other(torch.randn(3)).sum()
        (a + b).backward()
        assert torch.equal(a, b)


def before_the_loop(model, loader, optimizer):
    torch.manual_seed(0)
    for x in loader:
        one_step(model, x, optimizer)
