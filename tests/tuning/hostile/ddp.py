"""Two ranks in step, by the first argument under DDP or FSDP; what goes wrong on rank 1, by the second."""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, get_worker_info
from torch.utils.data.distributed import DistributedSampler

kind, mishap = sys.argv[1:]
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)


class Samples(Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, index):
        if rank == 1:
            info = get_worker_info()
            if info is None or info.num_workers == 1:
                time.sleep(0.01)
            elif mishap == "fails in two workers, is killed with three":
                if info.num_workers == 2:
                    raise ValueError("a sample that no worker can read")
                if info.id == 0:
                    os.kill(os.getppid(), signal.SIGKILL)
                time.sleep(60)
        return torch.full((8,), float(index % 5)), index % 3


model = nn.Linear(8, 3)
if kind == "ddp":
    model = DistributedDataParallel(model)
else:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
data = Samples()
sampler = DistributedSampler(data)
loader = DataLoader(data, 4, sampler=sampler)
steps = 0
for epoch in range(10**6):
    sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        steps += 1
        if mishap == "raises" and rank == 1 and steps == 40:
            raise ValueError("the loss is not a number")
    if rank == 0:
        torch.save(epoch, "epoch.pt")
    dist.barrier()
    assert torch.load("epoch.pt") == epoch
    dist.barrier()
