from datasets import get_coco_api_from_dataset
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build(dataset_val):
    sampler_val = DistributedSampler(dataset_val, shuffle=False)
    return DataLoader(dataset_val, 8, sampler=sampler_val), get_coco_api_from_dataset(dataset_val)
