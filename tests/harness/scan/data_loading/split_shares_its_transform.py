from torch.utils.data import Subset, random_split
from torchvision import transforms


def splits_augmented(images_in):
    flip = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    images = images_in("photos", transform=flip)
    train, val = random_split(images, [8, 2])  # finds split_shares_its_transform
    return train, val


def splits_by_name(images_in, augment):
    train, val = random_split(  # finds split_shares_its_transform
        images_in("photos", transform=augment), [8, 2]
    )
    return train, val


def splits_off_a_part(images_in, augment):
    images = images_in("photos", transform=augment)
    train, _ = random_split(images, [8, 2])
    return train


def splits_plain(images_in):
    images = images_in("photos", transform=transforms.ToTensor())
    train, val = random_split(images, [8, 2])
    return train, val


def splits_indices(images_in, augment):
    images = images_in("photos", transform=augment)
    train, val = random_split(images, [8, 2])
    val = Subset(images_in("photos", transform=None), val.indices)
    return train, val


def splits_an_unknown_one(images):
    train, val = random_split(images, [8, 2])
    return train, val
