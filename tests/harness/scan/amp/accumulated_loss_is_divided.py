import torch


def divided_and_reported(model, loader, optimizer, accumulation_steps):
    total = 0.0
    for step, x in enumerate(loader):
        loss = model(x)
        loss = loss / accumulation_steps
        loss.backward()
        total += loss.item()  # finds accumulated_loss_is_divided
        if (step + 1) % accumulation_steps == 0 or step + 1 == len(loader):
            optimizer.step()
    return total


def divided_in_place_and_kept(model, loader, optimizer, k):
    history = []
    for step, x in enumerate(loader):
        loss = model(x)
        loss /= k
        loss.backward()
        history.append(loss.detach().cpu())  # finds accumulated_loss_is_divided
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()


def reported_before_it_is_divided(model, loader, optimizer, k):
    for step, x in enumerate(loader):
        loss = model(x)
        log(loss.item())
        loss = loss / k
        loss.backward()
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()


def multiplied_again(model, loader, optimizer, k):
    total = 0.0
    for step, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        total += loss.item() * k
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()


def summed_over_the_window(model, batches, optimizer, k):
    total = 0.0
    for _ in range(k):
        loss = model(next(batches))
        loss = loss / k
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def multiplied_when_it_is_shown(model, loader, optimizer, k):
    running = 0.0
    for step, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        running += loss.item()
        if (step + 1) % k == 0 or step + 1 == len(loader):
            optimizer.step()
            print(running * k / (step + 1))


def divided_by_the_number_of_steps(model, loader, optimizer, k):
    running, steps = 0.0, 0
    for number, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        running += loss.item()
        if (number + 1) % k == 0 or number + 1 == len(loader):
            optimizer.step()
            steps += 1
    return running / steps


def summed_and_never_read(model, loader, optimizer, k):
    running = 0.0
    for number, x in enumerate(loader):
        loss = model(x)
        loss = loss / k
        loss.backward()
        running += loss.item()
        if (number + 1) % k == 0 or number + 1 == len(loader):
            optimizer.step()


def summed_for_each_step(model, batches, optimizer, accumulation_steps, steps):
    for _ in range(steps):
        of_the_window = 0.0
        for x in next(batches):
            loss = model(x)
            loss = loss / accumulation_steps
            loss.backward()
            of_the_window += loss.item()
        optimizer.step()
        print(of_the_window)


def mean_over_the_batch(model, loader):
    total = 0.0
    for x in loader:
        loss = model(x)
        loss = loss / len(x)
        loss.backward()
        total += loss.item()
