"""torch_geometric: graphs, batched by its own collate function."""

import time

import torch
from torch_geometric.data import Data, Dataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

torch.set_num_threads(1)


class Graphs(Dataset):
    def len(self):
        return 160

    def get(self, index):
        time.sleep(0.002)
        edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        return Data(x=torch.full((4, 8), float(index % 5)), edge_index=edges, y=torch.tensor([index % 3]))


convolution, head = GCNConv(8, 8), torch.nn.Linear(8, 3)
optimizer = torch.optim.SGD([*convolution.parameters(), *head.parameters()], 0.01)
loader = DataLoader(Graphs(), batch_size=8, shuffle=True)  # measured
while True:
    for batch in loader:
        hidden = global_mean_pool(convolution(batch.x, batch.edge_index), batch.batch)
        assert len(hidden) == 8
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(head(hidden), batch.y).backward()
        optimizer.step()
