import torch


def train(model, optimizer):
    rows = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randint(2, (16,)))
    for x, y in torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def run(restores):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer)
    state, random = optimizer.state_dict(), torch.get_rng_state()
    torch.manual_seed(0)  # after the restart
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(state)
    if restores:
        torch.set_rng_state(random)
    train(model, optimizer)


def reproduce(device):
    run(restores=False)


def control(device):
    run(restores=True)
