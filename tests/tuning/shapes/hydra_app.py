"""hydra: the number of workers stands in a file of YAML."""

import hydra
from slow import Slow, step
from torch.utils.data import DataLoader


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    loader = DataLoader(Slow(), batch_size=cfg.batch_size, shuffle=True, num_workers=cfg.num_workers)  # measured
    for _ in range(cfg.epochs):
        for x, y in loader:
            step(x, y)


if __name__ == "__main__":
    main()
