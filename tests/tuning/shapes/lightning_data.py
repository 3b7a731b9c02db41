"""Lightning under its older name, with a DataModule that takes the number of workers as an argument, and automatic
optimization of two steps at once."""

import pytorch_lightning
import torch
from slow import Slow
from torch.utils.data import DataLoader


class Data(pytorch_lightning.LightningDataModule):
    def __init__(self, workers=0):
        super().__init__()
        self.workers = workers

    def train_dataloader(self):
        return DataLoader(Slow(), batch_size=8, shuffle=True, num_workers=self.workers)  # measured

    def val_dataloader(self):
        return DataLoader(Slow(16), batch_size=8, num_workers=self.workers)


class Module(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(8, 3)

    def training_step(self, batch, number):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.model(x), y)
        self.log("train", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, number):
        x, y = batch
        self.log("loss", torch.nn.functional.cross_entropy(self.model(x), y))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


trainer = pytorch_lightning.Trainer(max_epochs=1000, accelerator="cpu", accumulate_grad_batches=2)
trainer.fit(Module(), datamodule=Data())
