import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer


class Classifier(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(99, size, padding_idx=0)
        self.letters = nn.Embedding(26, size)
        self.model = AutoModel.from_pretrained("bert-base-uncased")
        self.lstm = nn.LSTM(size, size, batch_first=True)
        self.head = nn.Linear(size, 2)

    def forward(self, input_ids, attention_mask):
        outputs = self.model(input_ids, attention_mask=attention_mask)
        return self.head(outputs.last_hidden_state.mean(dim=1))  # finds mean_pooling_counts_padding

    def first(self, ids, mask):
        hidden = self.model(ids, mask)[0]
        return self.head(torch.mean(hidden, 1))  # finds mean_pooling_counts_padding

    def words(self, ids):
        x = self.embedding(ids)
        return self.head(x.mean(1))  # finds mean_pooling_counts_padding

    def steps(self, ids):
        output, _ = self.lstm(self.embedding(ids))
        return self.head(output.mean(dim=1))  # finds mean_pooling_counts_padding

    def masked(self, ids, attention_mask):
        outputs = self.model(ids, attention_mask=attention_mask)
        hidden = outputs.last_hidden_state * attention_mask[..., None]
        count = attention_mask.sum(1, keepdim=True)
        return hidden.mean(1) * hidden.shape[1] / count, outputs.pooler_output.mean(0)

    def unmasked(self, pixels):
        outputs = self.model(pixels, attention_mask=None)
        return outputs.last_hidden_state.mean(1), self.letters(pixels).mean(1)

    def of_images(self, pixels, mask, mask_ratio):
        features = self.model(pixels, mask)
        losses = self.model(pixels, mask_ratio=mask_ratio)
        return features.mean(1), losses.mean(1)

    def by_length(self, ids, lengths):
        x = self.embedding(ids)
        return x.mean(1) * ids.shape[1] / lengths[:, None]

    def over_the_features(self, ids):
        return self.embedding(ids).mean(2), self.embedding(ids).mean(-1)


def embed(model, texts, text):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    features = model(**inputs).last_hidden_state
    one = model(**tokenizer(text, padding=True, return_tensors="pt")).last_hidden_state.mean(1)
    return features.mean(dim=1), one  # finds mean_pooling_counts_padding


def embed_on(device, model, tokenizer, keywords):
    inputs = tokenizer(keywords, padding=True, return_tensors="pt")
    inputs = {name: value.to(device) for name, value in inputs.items()}
    outputs = model(**inputs)
    return outputs[0].mean(1)  # finds mean_pooling_counts_padding


def embed_pixels(model, processor, images):
    inputs = processor(images, return_tensors="pt")
    return model(**inputs).last_hidden_state.mean(dim=1)


class Bag(nn.Module):
    def forward(self, ids):
        kept = self.embed(ids) * (ids != 0).unsqueeze(-1).float()
        other = self.embed(ids) * self.scale
        count = (ids != 0).sum(1, keepdim=True)
        print(other.mean(dim=2), kept.sum(dim=1) / count)
        return kept.mean(dim=1)  # finds mean_pooling_counts_padding
