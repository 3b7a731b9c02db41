"""Lightning, with loaders that the module builds: validated once before, and after every epoch."""

import lightning
import torch
from slow import Slow
from torch.utils.data import DataLoader


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(8, 3)

    def val_dataloader(self):
        return DataLoader(Slow(40, 0.001), batch_size=8)

    def train_dataloader(self):
        return DataLoader(Slow(), batch_size=8, shuffle=True, pin_memory=True)  # measured

    def training_step(self, batch, number):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.model(x), y)

    def validation_step(self, batch, number):
        x, y = batch
        self.log("loss", torch.nn.functional.cross_entropy(self.model(x), y))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)


trainer = lightning.Trainer(max_epochs=1000, accelerator="cpu", enable_model_summary=False)
trainer.fit(Module())
