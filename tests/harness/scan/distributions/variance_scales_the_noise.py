import torch
from torch import nn


class VAE(nn.Module):
    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)
        eps = torch.randn_like(std)
        return mu + eps * std  # finds variance_scales_the_noise

    def reparametrize(self, mu, logvar):
        var = logvar.exp_()
        eps = torch.FloatTensor(var.size()).normal_().to(mu.device)
        return eps.mul(var).add_(mu)  # finds variance_scales_the_noise

    def forward(self, x):
        mu, log_variance = self.encoder(x)
        z = torch.mul(torch.randn_like(mu), log_variance.exp()) + mu  # finds variance_scales_the_noise
        return self.decoder(z)


def reparametrize_gaussian(mu, logvar):
    noise = torch.tensor(mu.data.clone().normal_(0, 1), requires_grad=False)
    return mu + (noise * logvar.exp())  # finds variance_scales_the_noise


class Right(nn.Module):
    def halved(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def halved_before(self, mu, logvar):
        logvar = logvar / 2
        return mu + torch.randn_like(mu) * logvar.exp()

    def rooted(self, mu, log_var):
        return mu + torch.randn_like(mu) * log_var.exp().sqrt()

    def deviation(self, mu, log_std):
        return mu + torch.randn_like(mu) * log_std.exp()

    def divergence(self, mu, log_var):
        return -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum()

    def weighted(self, mu, log_var, target):
        return (target - mu) ** 2 * log_var.exp() + log_var


class LogDeviation(nn.Module):
    def forward(self, x):
        mu, log_var_of_x = self.encoder(x)
        z = mu + log_var_of_x.exp() * torch.randn_like(mu)
        return z, (log_var_of_x.exp() ** 2 + mu**2 - 2 * log_var_of_x - 1).sum() / 2
