import torch


def last_window(model, loader, optimizer, args):
    for epoch in range(args.epochs):
        for step, (x, y) in enumerate(loader):
            loss = model(x, y) / args.accumulation
            loss.backward()
            if (step + 1) % args.accumulation == 0:
                optimizer.step()  # finds last_window_is_dropped
                optimizer.zero_grad()


def last_window_by_a_counter_of_its_own(model, loader, optimizer, k):
    for epoch in range(10):
        count = 0
        for x in loader:
            model(x).backward()
            count += 1
            if not count % k:
                optimizer.step()  # finds last_window_is_dropped
                optimizer.zero_grad()


def last_window_at_the_end(model, loader, optimizer, k):
    for step, x in enumerate(loader):
        model(x).backward()
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def last_window_after_the_loop(model, loader, optimizer, k):
    for step, x in enumerate(loader):
        model(x).backward()
        if (step + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
    optimizer.step()


def counter_runs_across_epochs(model, loader, optimizer, k):
    count = 0
    for epoch in range(10):
        for x in loader:
            model(x).backward()
            count += 1
            if count % k == 0:
                optimizer.step()
                optimizer.zero_grad()


def steps_of_the_whole_training(model, batches, optimizer, k):
    for step in range(100_000):
        model(next(batches)).backward()
        if (step + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def generator_trained_every_fifth_time(critic, generator, loader, d_optimizer, g_optimizer):
    for step, x in enumerate(loader):
        critic(x).backward()
        d_optimizer.step()
        if step % 5 == 0:
            generator(x).backward()
            g_optimizer.step()


def leaves_the_last_window_out(model, loader, optimizer, k, windows):
    for number, x in enumerate(loader):
        window = number // k
        if window >= windows:
            continue
        model(x).backward()
        if (number + 1) % k == 0:
            optimizer.step()


def a_window_with_a_name(model, optimizer, scaler, loader, accum):
    for i, x in enumerate(loader):
        scaler.scale(model(x).mean() / accum).backward()
        last = (i + 1) % accum == 0
        if last:
            scaler.unscale_(optimizer)
        if (i + 1) % accum == 0:
            scaler.step(optimizer)  # finds last_window_is_dropped
            scaler.update()
            optimizer.zero_grad()


def trains_with_a_name(model, loader, optimizer, k):
    for i, x in enumerate(loader):
        model(x).backward()
        is_last_of_window = (i + 1) % k == 0
        if is_last_of_window:
            optimizer.step()  # finds last_window_is_dropped
            optimizer.zero_grad()


def trains_to_the_end_with_a_name(model, loader, optimizer, k):
    for i, x in enumerate(loader):
        model(x).backward()
        should_step = (i + 1) % k == 0 or i + 1 == len(loader)
        if should_step:
            optimizer.step()
            optimizer.zero_grad()
