import torch


def reads_too_early(scores):
    host = scores.to("cpu", non_blocking=True)  # finds nonblocking_to_host_races
    return host.numpy()


def stacks_too_early(model, batches):
    outputs = []
    for batch in batches:
        output = model(batch).to(device="cpu", non_blocking=True)  # finds nonblocking_to_host_races
        outputs.append(output)
    return torch.cat(outputs)


def compares_too_early(scores):
    host = torch.empty(8, pin_memory=True)
    host.copy_(scores, non_blocking=True)  # finds nonblocking_to_host_races
    return host > 0.5


def reads_in_time(scores):
    host = scores.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return host.numpy()


def reads_after_an_event(scores, event):
    host = scores.to("cpu", non_blocking=True)
    event.wait()
    return host.sum()


def reads_after_a_blocking_copy(scores, lengths):
    host = scores.to("cpu", non_blocking=True)
    lengths = lengths.to("cpu")
    return host.sum() / lengths.numpy()


def reads_after_a_fence(scores, fence):
    host = scores.to("cpu", non_blocking=True)
    fence()
    return host.numpy()


def copies_to_the_device(scores):
    there = scores.to("cuda", non_blocking=True)
    return there.sum().item()


def blocks(scores, wait):
    host = scores.to("cpu", non_blocking=wait)
    return host.numpy()


def moves_back(model, hidden):
    hidden = hidden.to("cpu", non_blocking=True)
    hidden = hidden.to("cuda", non_blocking=True)
    return model(hidden)
