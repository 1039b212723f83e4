import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = 0.1

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(
            q,
            k,
            v,
            dropout_p=self.dropout,  # finds sdpa_drops_out_in_eval_mode
        )

    def again(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, None, 0.1)  # finds sdpa_drops_out_in_eval_mode

    def right(self, q, k, v):
        dropout = self.dropout if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout)
        z = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0)
        return y + z + F.scaled_dot_product_attention(q, k, v)
