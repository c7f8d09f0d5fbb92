"""Learn handwritten digits with an MLP or a small CNN, on any device that has a provider.

    python examples/mnist.py --model cnn --device cpu
    python examples/mnist.py --model mlp --device fake:0 --data path/to/mnist

`--data` is a folder with MNIST's four IDX files (compressed or not). Without it the 1797 digits of 8 x 8 pixels that
scikit-learn brings along are used, four fifths to learn from and one fifth to test on; both models then pass 95 % of
the test images in the ten default epochs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import infinitrain as it
import numpy as np
from infinitrain import nn
from infinitrain.data import read_idx
from infinitrain.nn import functional as F
from infinitrain.optim import AdamW, CosineAnnealingLR, clip_grad_norm_


@dataclass(frozen=True)
class Digits:
    """Images (N, 1, H, W) float32 and labels (N,) int64."""

    images: np.ndarray
    labels: np.ndarray

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give all images once, in random order if `rng` is given; the last batch may be smaller."""
        order = np.arange(len(self.labels)) if rng is None else rng.permutation(len(self.labels))
        for begin in range(0, len(order), size):
            chosen = order[begin : begin + size]
            yield self.images[chosen], self.labels[chosen]


def load_mnist(folder: Path) -> tuple[Digits, Digits]:
    """Read the four files of MNIST, under any of their usual names."""

    def find(part: str, kind: str) -> np.ndarray:
        names = [f"{part}-{kind}{ending}" for ending in ("-ubyte", "-ubyte.gz")]
        names += [name.replace("-idx", ".idx") for name in names]
        for name in names:
            if (folder / name).is_file():
                return read_idx(folder / name)
        raise FileNotFoundError(f"{folder}: expected one of {', '.join(names)}, found none")

    def digits(part: str) -> Digits:
        images, labels = find(part, "images-idx3"), find(part, "labels-idx1")
        return Digits((images[:, None] / np.float32(255)).astype(np.float32), labels.astype(np.int64))

    return digits("train"), digits("t10k")


def load_small() -> tuple[Digits, Digits]:
    """Take scikit-learn's digits, in an order that is always the same."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        sys.exit("mnist.py: without --data it needs scikit-learn's digits: pip install scikit-learn")
    bunch = load_digits()
    order = np.random.default_rng(0).permutation(len(bunch.target))
    images = (bunch.images[order, None] / 16).astype(np.float32)
    labels = bunch.target[order].astype(np.int64)
    cut = len(labels) * 4 // 5
    return Digits(images[:cut], labels[:cut]), Digits(images[cut:], labels[cut:])


def make_model(name: str, height: int, width: int, device: str) -> nn.Module:
    """Build a model of 10 classes for images (N, 1, height, width)."""
    if name == "mlp":
        return nn.Sequential(
            nn.Flatten(),
            nn.Linear(height * width, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        ).to(device)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),  # (N, 8, H, W)
        nn.ReLU(),
        nn.MaxPool2d(2),  # (N, 8, H/2, W/2)
        nn.Conv2d(8, 16, 3, padding=1),  # (N, 16, H/2, W/2)
        nn.ReLU(),
        nn.MaxPool2d(2),  # (N, 16, H/4, W/4)
        nn.Flatten(),
        nn.Linear(16 * (height // 4) * (width // 4), 10),
    ).to(device)


def accuracy(model: nn.Module, digits: Digits, device: str, batch_size: int = 500) -> float:
    """Give the share of images whose likeliest class is their label."""
    model.eval()
    right = 0
    with it.no_grad():
        for images, labels in digits.batches(batch_size):
            found = model(it.tensor(images, device=device)).argmax(1)
            right += int((found == it.tensor(labels, device=device)).sum().item())
    model.train()
    return right / len(digits.labels)


def main(arguments: list[str] | None = None) -> float:
    """Train and print; gives the accuracy on the test images."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("mlp", "cnn"), default="cnn")
    parser.add_argument("--device", default="cpu", help="as cpu, fake:1 (cpu)")
    parser.add_argument("--data", type=Path, help="folder with MNIST's IDX files (scikit-learn's digits)")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.005)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    it.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    train, test = load_small() if options.data is None else load_mnist(options.data)
    height, width = train.images.shape[2:]
    model = make_model(options.model, height, width, options.device)
    optimizer = AdamW(model.parameters(), lr=options.lr)
    schedule = CosineAnnealingLR(optimizer, T_max=options.epochs)
    found = accuracy(model, test, options.device)
    for epoch in range(options.epochs):
        total = it.zeros((), device=options.device)
        for images, labels in train.batches(options.batch_size, rng):
            loss = F.cross_entropy(
                model(it.tensor(images, device=options.device)), it.tensor(labels, device=options.device)
            )
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.detach() * len(labels)
        schedule.step()
        found = accuracy(model, test, options.device)
        print(f"epoch {epoch + 1:2d}: loss {total.item() / len(train.labels):.4f}, test accuracy {found:.4f}")
    print(f"{options.model} on {options.device}: accuracy {found:.4f}")
    return found


if __name__ == "__main__":
    main()
