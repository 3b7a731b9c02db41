"""transformers: a Trainer builds the loader out of sight."""

import torch
from slow import Slow
from transformers import Trainer, TrainingArguments


class Rows(Slow):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return {"x": x, "labels": y}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 3)

    def forward(self, x, labels):
        logits = self.linear(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


arguments = TrainingArguments(  # edited
    output_dir="out",
    num_train_epochs=1000,
    per_device_train_batch_size=8,
    eval_strategy="epoch",
    save_steps=25,
    logging_steps=5,
    use_cpu=True,
    report_to="none",
)
Trainer(Model(), arguments, train_dataset=Rows(), eval_dataset=Rows(24)).train()
