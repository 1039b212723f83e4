from torch.utils.data import DataLoader


def shows(trainloader, rows):
    dataiter = iter(trainloader)
    images, labels = dataiter.next()  # finds iterator_has_no_next
    batch = iter(DataLoader(rows)).next()  # finds iterator_has_no_next
    return images, labels, batch, next(dataiter)


def asks_others(prefetcher, queue):
    prefetcher.next()
    rows = iter(queue)
    return rows.next()
