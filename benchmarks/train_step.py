"""A training step of GPT-2 against PyTorch, in interleaved rounds: `python benchmarks/train_step.py`.

Each peer lives in a process of its own and takes a few steps when it is told to, in turn with the others, so that a
busy machine slows all of them alike. Compare ratios, never one time. Every peer trains the same sizes, from the same
first values, on the same random tokens with AdamW in float32.

Processor time stands beside wall time: on a machine with more to do than cores, waiting threads are the first to
suffer, and the ratio of wall times then says more about who waits how than about who computes what. The load average
is printed so that such a run can be told from a quiet one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {
    "gpt2": {"n_layer": 12, "n_head": 12, "n_embd": 768},
    "gpt2-mini": {"n_layer": 4, "n_head": 4, "n_embd": 128},
}
VOCABULARY = 50304
LR = 1e-4
#: All peers start from the same values. From other draws PyTorch's own losses differ by a quarter after 12 steps, so
#: that only equal starts show whether the peers do the same work.
LOSS_TOLERANCE = 1e-3
#: What the lean PyTorch model's layers are called in infinitrain's GPT-2.
TORCH_NAMES = {"qkv": "attn.c_attn", "proj": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}
PEERS = ("infinitrain", "infinitrain.eager", "torch", "torch.compile")
#: Steps before any is counted: compilers record or trace in them.
WARM_UP = 4


def tokens(batch: int, time_: int) -> tuple[Any, Any]:
    """Draw inputs and targets, (B, T) int64, the same for every peer."""
    rows = np.random.default_rng(0).integers(0, 50257, (batch, time_ + 1))
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])


def first_values(name: str, shape: tuple[int, ...], layers: int) -> Any:
    """Give a parameter's first values by its name in infinitrain's GPT-2: float32, the published initialisation."""
    if len(shape) < 2:
        return np.full(shape, float("ln_" in name and name.endswith("weight")), np.float32)
    deviation = 0.02 / math.sqrt(2 * layers) if name.endswith("c_proj.weight") else 0.02
    draws = np.random.default_rng(list(name.encode())).standard_normal(shape, np.float32)
    draws *= np.float32(deviation)
    return draws


def infinitrain_step(options: argparse.Namespace, compiled: bool) -> Callable[[], float]:
    """Make the step of infinitrain on its cpu device, replayed or eager."""
    import infinitrain as it
    from infinitrain.models import create
    from infinitrain.optim import AdamW

    it.configure("cpu", threads=options.threads)
    model = create(options.model, vocab_size=VOCABULARY, block_size=1024)
    with it.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(it.tensor(first_values(name, parameter.shape, SIZES[options.model]["n_layer"])))
    optimizer = AdamW(model.parameters(), lr=LR, weight_decay=0.1)
    inputs, targets = (it.tensor(each) for each in tokens(options.batch_size, options.seq_len))

    def train(inputs: it.Tensor, targets: it.Tensor) -> it.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = model(inputs, targets)[1]  # nobody keeps the logits, as in the peers
        assert isinstance(loss, it.Tensor)
        loss.backward()
        optimizer.step()
        return loss

    step = it.compile(train) if compiled else train
    return lambda: float(step(inputs, targets).item())


def torch_step(options: argparse.Namespace, compiled: bool) -> Callable[[], float]:
    """Make the same step in PyTorch, eager or compiled, with its fused attention and AdamW."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    torch.set_num_threads(options.threads)
    size = SIZES[options.model]
    width, heads = size["n_embd"], size["n_head"]

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            b, t, c = x.shape
            q, k, v = (
                part.view(b, t, heads, c // heads).transpose(1, 2) for part in self.qkv(self.ln_1(x)).split(c, 2)
            )
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
            mlp: torch.Tensor = self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh"))
            return x + mlp

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(VOCABULARY, width), nn.Embedding(1024, width)
            self.h = nn.ModuleList(Block() for _ in range(size["n_layer"]))
            self.ln_f = nn.LayerNorm(width)
            self.head = nn.Linear(width, VOCABULARY, bias=False)
            self.head.weight = self.wte.weight

        def forward(self, idx: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
            for block in self.h:
                x = block(x)
            logits: torch.Tensor = self.head(self.ln_f(x))
            return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))

    model = Model()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            theirs = ".".join(TORCH_NAMES.get(part, part) for part in name.split("."))
            parameter.copy_(torch.from_numpy(first_values(theirs, tuple(parameter.shape), size["n_layer"])))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.1, fused=True)
    forward = torch.compile(model) if compiled else model
    inputs, targets = (torch.from_numpy(each) for each in tokens(options.batch_size, options.seq_len))

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = forward(inputs, targets)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def serve(options: argparse.Namespace) -> None:
    """Take as many steps as each line of standard input says, and answer with their times, losses and peak memory."""
    if options.serve.startswith("infinitrain"):
        step = infinitrain_step(options, compiled=options.serve == "infinitrain")
    else:
        step = torch_step(options, compiled=options.serve == "torch.compile")
    for line in sys.stdin:
        times, busy, losses = [], [], []
        for _ in range(int(line)):
            begin, begin_busy = time.perf_counter(), time.process_time()
            losses.append(step())
            times.append(time.perf_counter() - begin)
            busy.append(time.process_time() - begin_busy)
        answer = {"seconds": times, "cpu_seconds": busy, "losses": losses, "peak_kib": peak_memory_kib()}
        print(json.dumps(answer), flush=True)


def peak_memory_kib() -> int:
    """Give this process's largest resident size so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    return 0


@dataclass
class Peer:
    """A process that trains when it is told to."""

    name: str
    process: subprocess.Popen[str]
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    peak_kib: int = 0

    def run(self, steps: int, warm_up: bool = False) -> None:
        """Take steps; those of a warm-up are not counted."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with code {self.process.wait()}: see its messages above")
        answer = json.loads(line)
        self.losses += answer["losses"]
        self.peak_kib = answer["peak_kib"]
        if not warm_up:
            self.seconds += answer["seconds"]
            self.cpu_seconds += answer["cpu_seconds"]

    @property
    def median(self) -> float:
        """The median step, in seconds."""
        return statistics.median(self.seconds)

    @property
    def cpu_median(self) -> float:
        """The median processor time of a step, over all threads, in seconds."""
        return statistics.median(self.cpu_seconds)


def start(name: str, options: argparse.Namespace) -> Peer:
    """Start a peer in a process of its own, held to the same number of threads."""
    sizes = [
        f"--{key.replace('_', '-')}={getattr(options, key)}" for key in ("model", "batch_size", "seq_len", "threads")
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    command = [sys.executable, __file__, "--serve", name, *sizes]
    return Peer(
        name, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    )


def main() -> None:
    """Measure and print a table, slowest comparison last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(SIZES), default="gpt2")
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--seq-len", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=6, help="turns of each peer (%(default)s)")
    parser.add_argument("--steps", type=int, default=2, help="steps of a turn (%(default)s)")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--json", type=Path, help="write every figure to this file too")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options)
        return
    before = os.getloadavg()[0]
    peers = [start(name, options) for name in options.peers]
    for peer in peers:
        peer.run(WARM_UP, warm_up=True)
        print(f"{peer.name}: ready", file=sys.stderr, flush=True)
    for _ in range(options.rounds):
        for peer in peers:
            peer.run(options.steps)
    report(peers, options, (before, os.getloadavg()[0]))


def check_losses(peers: list[Peer]) -> None:
    """End if a peer's loss does not fall, or is far from the first one's at a step: that is no training."""
    first = peers[0]
    for peer in peers:
        if not peer.losses[-1] < peer.losses[0]:
            raise SystemExit(f"{peer.name}: the loss did not fall: {peer.losses}")
        for step, (ours, theirs) in enumerate(zip(first.losses, peer.losses, strict=True)):
            if abs(ours - theirs) > LOSS_TOLERANCE * max(ours, theirs):
                raise SystemExit(
                    f"step {step}: loss {ours:.3f} of {first.name} is far from {theirs:.3f} of {peer.name}"
                )


def report(peers: list[Peer], options: argparse.Namespace, load: tuple[float, float]) -> None:
    """Print medians, and what the first peer's are of each peer's."""
    first = peers[0]
    print(
        f"{options.model}, float32, AdamW, B={options.batch_size} T={options.seq_len}, {options.threads} threads, "
        f"median of {len(first.seconds)} steps; load average {load[0]:.1f} before, {load[1]:.1f} after, "
        f"{os.cpu_count()} cores"
    )
    print(
        f"{'':18} {'ms/step':>9} {first.name + ' / peer':>19} {'cpu ms':>8} {'cpu / peer':>11} {'peak MB':>9} "
        f"{'memory / peer':>14} {'loss':>16}"
    )
    for peer in peers:
        print(
            f"{peer.name:18} {peer.median * 1e3:9.0f} {first.median / peer.median:19.2f} "
            f"{peer.cpu_median * 1e3:8.0f} {first.cpu_median / peer.cpu_median:11.2f} {peer.peak_kib / 1024:9.0f} "
            f"{first.peak_kib / peer.peak_kib:14.2f} {peer.losses[0]:7.3f} -> {peer.losses[-1]:.3f}"
        )
    if options.json:
        kept = ("seconds", "cpu_seconds", "losses", "peak_kib")
        figures = {peer.name: {name: getattr(peer, name) for name in kept} for peer in peers}
        sizes = {**vars(options), "json": None, "load": load}
        options.json.write_text(json.dumps({"sizes": sizes, "peers": figures}, indent=1))
    check_losses(peers)


if __name__ == "__main__":
    main()
