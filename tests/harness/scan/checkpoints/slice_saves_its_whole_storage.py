import torch


def saves(parts, path):
    features = torch.cat(parts)
    torch.save(features[:10], path)  # finds slice_saves_its_whole_storage
    first = features[:100]
    torch.save(first, path)  # finds slice_saves_its_whole_storage
    torch.save(features[:10].clone(), path)
    torch.save(parts[:10], path)
    torch.save(features[0], path)
