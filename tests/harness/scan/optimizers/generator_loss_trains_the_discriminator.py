import torch


def clears_after_each_step(netD, netG, loader, criterion, optimizerD, optimizerG):
    for real, fake in loader:
        d_loss = criterion(netD(real)) - criterion(netD(fake.detach()))
        d_loss.backward()
        optimizerD.step()  # finds generator_loss_trains_the_discriminator
        optimizerD.zero_grad()
        g_loss = criterion(netD(fake))
        g_loss.backward()
        optimizerG.step()
        optimizerG.zero_grad()


def steps_at_the_end(D, G, loader, losses, optimizer_D, optimizer_G):
    for x in loader:
        loss_D, loss_G = losses(x)
        D.zero_grad()
        loss_D.backward(retain_graph=True)
        G.zero_grad()
        loss_G.backward()
        optimizer_D.step()  # finds generator_loss_trains_the_discriminator
        optimizer_G.step()


def clears_before(D, G, loader, losses, optimizer_D, optimizer_G):
    for x in loader:
        loss_G = losses(x)[1]
        optimizer_G.zero_grad()
        loss_G.backward()
        optimizer_G.step()
        loss_D = losses(x)[0]
        optimizer_D.zero_grad()
        loss_D.backward()
        optimizer_D.step()


def freezes(D, G, loader, losses, optimizer_D, optimizer_G):
    for x in loader:
        D.requires_grad_(True)
        loss_D = losses(x)[0]
        loss_D.backward()
        optimizer_D.step()
        optimizer_D.zero_grad()
        D.requires_grad_(False)
        loss_G = losses(x)[1]
        loss_G.backward()
        optimizer_G.step()
        optimizer_G.zero_grad()
