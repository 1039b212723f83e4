import torch

from tests.diagnose.trainers import rows, trainer


def large_evaluation_batch():
    return trainer(val_loader=torch.utils.data.DataLoader(rows(), batch_size=32))


def batches_of_all_sizes():
    batches = torch.tensor(range(64)).split([4, 12, 32, 16])
    sampler = [batch.tolist() for batch in batches]
    return trainer(loader=torch.utils.data.DataLoader(rows(), batch_sampler=sampler))


OUTCOMES = [[trainer], [large_evaluation_batch], [batches_of_all_sizes]]
