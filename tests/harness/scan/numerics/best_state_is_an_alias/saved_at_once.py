import torch


"""A few lines that import nothing, where best_state_is_an_alias has to find nothing."""
# ruff: noqa: F821

optimizer.step()
best = model.state_dict()
torch.save(best, "best.pt")
optimizer.step()
