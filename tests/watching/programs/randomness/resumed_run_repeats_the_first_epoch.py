import torch


def train(model, optimizer, generator):
    rows = torch.utils.data.TensorDataset(torch.randn(16, 4), torch.randint(2, (16,)))
    loader = torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True, generator=generator)
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def run(restores):
    model, generator = torch.nn.Linear(4, 2), torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer, generator)
    state, random = optimizer.state_dict(), generator.get_state()
    generator = torch.Generator().manual_seed(0)  # after the restart
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(state)
    if restores:
        generator.set_state(random)
    train(model, optimizer, generator)


def reproduce(device):
    run(restores=False)


def control(device):
    run(restores=True)
