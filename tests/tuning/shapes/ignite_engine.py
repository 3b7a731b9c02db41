"""ignite: an engine that takes the loader."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from slow import Slow, model, optimizer
from torch.utils.data import DataLoader

loader = DataLoader(Slow(), batch_size=8, shuffle=True)  # measured
held_out = DataLoader(Slow(24), batch_size=8)
trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.cross_entropy)
evaluator = create_supervised_evaluator(model)
trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(held_out))
trainer.run(loader, max_epochs=1000)
