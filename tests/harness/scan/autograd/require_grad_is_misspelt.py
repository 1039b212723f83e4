def freezes(model):
    for parameter in model.parameters():
        parameter.require_grad = False  # finds require_grad_is_misspelt
    model.weight.requires_grads = True  # finds require_grad_is_misspelt


def freezes_indeed(model):
    for parameter in model.body.parameters():
        parameter.requires_grad = False
    model.head.requires_grad_()
    return model.require_grad
