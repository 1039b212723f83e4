import torch


@torch.no_grad()  # finds no_grad_misses_an_async_function
async def predict(model, x):
    return model(x)


class Server:
    @torch.inference_mode()  # finds no_grad_misses_an_async_function
    async def answer(self, x):
        return self.model(x)

    async def answers(self, x):
        with torch.no_grad():
            return self.model(x)


@torch.no_grad()
def predicts(model, x):
    return model(x)
