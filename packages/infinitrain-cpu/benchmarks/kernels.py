"""Time kernels of the cpu provider beside PyTorch's in interleaved rounds and print the ratios (ours / PyTorch's).

    python packages/infinitrain-cpu/benchmarks/kernels.py [--threads 2] [--rounds 15] [--only NAME] [--cpu-time]

Shapes are those of GPT-2 124M at 4 x 64 tokens. Both write into memory that exists already. Needs torch.
"""

# ruff: noqa: T201 - the printed table is the result
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from cpu_driver import Cpu

Case = tuple[str, Callable[[], Any], Callable[[], Any]]
F = torch.nn.functional


def normal(*shape: int, seed: int = 0) -> Any:
    """Random float32 memory that both sides see."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def linear_cases(cpu: Cpu, rows: int, inside: int, outside: int) -> list[Case]:
    """The three products of a linear layer."""
    x, w, b, g = normal(rows, inside), normal(outside, inside), normal(outside), normal(rows, outside)
    y, dx, dw, db = (np.zeros_like(a) for a in (g, x, w, b))
    tx, tw, tb, tg, ty, tdx, tdw, tdb = map(torch.from_numpy, (x, w, b, g, y.copy(), dx.copy(), dw.copy(), db.copy()))
    size = f"{rows}x{outside}x{inside}"
    return [
        (f"linear {size}", cpu.prepare("LinearForward", [x, w, b], [y]), lambda: torch.addmm(tb, tx, tw.t(), out=ty)),
        (f"linear dX {size}", cpu.prepare("LinearBackwardInput", [g, w], [dx]), lambda: torch.mm(tg, tw, out=tdx)),
        (f"linear dW {size}", cpu.prepare("LinearBackwardWeight", [x, g], [dw]), lambda: torch.mm(tg.t(), tx, out=tdw)),
        (f"linear db {size}", cpu.prepare("LinearBackwardBias", [g], [db]), lambda: torch.sum(tg, 0, out=tdb)),
    ]


def attention_cases(cpu: Cpu, batch: int, time_: int, heads: int, head: int) -> list[Case]:
    """Batched products and the causal softmax between them."""
    q, k, v = (normal(batch, heads, time_, head, seed=s) for s in range(3))
    scores, out = np.zeros((batch, heads, time_, time_), np.float32), np.zeros_like(q)
    p = normal(*scores.shape)
    tq, tk, tv, tp, ts, to = map(torch.from_numpy, (q, k, v, p, scores.copy(), out.copy()))
    mask = torch.full((time_, time_), -torch.inf).triu(1)
    y, g, dx = np.zeros_like(p), normal(*p.shape, seed=9), np.zeros_like(p)
    ty, tg = torch.softmax(tp * 0.125 + mask, -1), torch.from_numpy(g)
    size = f"{batch}x{heads}x{time_}x{head}"
    return [
        (
            f"q k^T {size}",
            cpu.prepare("MatmulForward", [q, k.swapaxes(-1, -2)], [scores]),
            lambda: torch.matmul(tq, tk.mT, out=ts),
        ),
        (f"p v {size}", cpu.prepare("MatmulForward", [p, v], [out]), lambda: torch.matmul(tp, tv, out=to)),
        (
            f"p^T g {size}",
            cpu.prepare("MatmulForward", [p.swapaxes(-1, -2), v], [out]),
            lambda: torch.matmul(tp.mT, tv, out=to),
        ),
        (
            f"causal softmax {size}",
            cpu.prepare("CausalSoftmaxForward", [p], [y], scale=0.125),
            lambda: torch.softmax(tp * 0.125 + mask, -1),
        ),
        (
            f"causal softmax back {size}",
            cpu.prepare("CausalSoftmaxBackward", [ty.numpy(), g], [dx], scale=0.125),
            lambda: torch._softmax_backward_data(tg, ty, -1, torch.float32),
        ),
        (
            f"heads to front {size}",
            cpu.prepare("Copy", [q.swapaxes(1, 2)], [out.reshape(batch, time_, heads, head)]),
            lambda: to.view(batch, time_, heads, head).copy_(tq.transpose(1, 2)),
        ),
    ]


def row_cases(cpu: Cpu, rows: int, columns: int) -> list[Case]:
    """LayerNorm, GELU, adding residuals."""
    x, w, b, g = normal(rows, columns), normal(columns), normal(columns), normal(rows, columns, seed=1)
    y, dx, dw, db = (np.zeros_like(a) for a in (x, x, w, b))
    mean, rstd = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    wide, wide_g = normal(rows, 4 * columns), normal(rows, 4 * columns, seed=1)
    wide_y = np.zeros_like(wide)
    tx, tw, tb, tg, twide, twg, ty = map(torch.from_numpy, (x, w, b, g, wide, wide_g, y.copy()))
    cpu.launch("LayerNormForward", [x, w, b], [y, mean, rstd])
    tm, tr = torch.from_numpy(mean)[:, None], torch.from_numpy(rstd)[:, None]
    size = f"{rows}x{columns}"
    return [
        (
            f"layer norm {size}",
            cpu.prepare("LayerNormForward", [x, w, b], [y, mean, rstd]),
            lambda: torch.native_layer_norm(tx, (columns,), tw, tb, 1e-5),
        ),
        (
            f"layer norm back {size}",
            cpu.prepare("LayerNormBackward", [x, w, mean, rstd, g], [dx, dw, db]),
            lambda: torch.ops.aten.native_layer_norm_backward(tg, tx, (columns,), tm, tr, tw, tb, [True] * 3),
        ),
        (
            f"gelu {rows}x{4 * columns}",
            cpu.prepare("GeluForward", [wide], [wide_y]),
            lambda: F.gelu(twide, approximate="tanh"),
        ),
        (
            f"gelu back {rows}x{4 * columns}",
            cpu.prepare("GeluBackward", [wide, wide_g], [wide_y]),
            lambda: torch.ops.aten.gelu_backward(twg, twide, approximate="tanh"),
        ),
        (
            f"gelu erf {rows}x{4 * columns}",
            cpu.prepare("GeluForward", [wide], [wide_y], tanh=False),
            lambda: F.gelu(twide),
        ),
        (f"add {size}", cpu.prepare("AddForward", [x, g], [y]), lambda: torch.add(tx, tg, out=ty)),
        (
            f"add row {size}",
            cpu.prepare("AddForward", [x, np.broadcast_to(w, x.shape)], [y]),
            lambda: torch.add(tx, tw, out=ty),
        ),
    ]


def head_cases(cpu: Cpu, rows: int, classes: int, width: int) -> list[Case]:
    """Loss, embedding, softmax over the vocabulary."""
    x = normal(rows, classes)
    target = np.random.default_rng(0).integers(0, classes, rows)
    loss, lse, grad = (np.zeros(rows, np.float32) for _ in range(3))
    grad += 1 / rows
    dx, soft = np.zeros_like(x), np.zeros_like(x)
    cpu.launch("CrossEntropyForward", [x, target], [loss, lse])
    tx, tt, tgrad = torch.from_numpy(x), torch.from_numpy(target), torch.from_numpy(grad)
    logp = torch.log_softmax(tx, -1)
    table, g, dtable = normal(classes, width), normal(rows, width), np.zeros((classes, width), np.float32)
    ttable, tg = torch.from_numpy(table), torch.from_numpy(g)
    rows_out = np.zeros((rows, width), np.float32)
    out = torch.empty_like(tx)

    def torch_backward() -> Any:
        d = torch.ops.aten.nll_loss_backward(tgrad.sum(), logp, tt, None, 1, -100, torch.tensor(float(rows)))
        return torch._log_softmax_backward_data(d, logp, -1, torch.float32)

    size = f"{rows}x{classes}"
    return [
        (
            f"cross entropy {size}",
            cpu.prepare("CrossEntropyForward", [x, target], [loss, lse]),
            lambda: F.nll_loss(torch.log_softmax(tx, -1), tt),
        ),
        (
            f"cross entropy back {size}",
            cpu.prepare("CrossEntropyBackward", [x, target, lse, grad], [dx]),
            torch_backward,
        ),
        (f"softmax {size}", cpu.prepare("SoftmaxForward", [x], [soft]), lambda: torch.softmax(tx, -1, out=out)),
        (
            f"embedding {size}",
            cpu.prepare("EmbeddingForward", [target, table], [rows_out]),
            lambda: F.embedding(tt, ttable),
        ),
        (
            f"embedding back {size}",
            cpu.prepare("EmbeddingBackward", [target, g], [dtable]),
            lambda: torch.ops.aten.embedding_dense_backward(tg, tt, classes, -1, False),
        ),
        (
            f"embedding back, add {size}",
            cpu.prepare("EmbeddingBackward", [target, g], [dtable], accumulate=True),
            lambda: ttable.index_add_(0, tt, tg),
        ),
    ]


def flat_cases(cpu: Cpu, n: int) -> list[Case]:
    """The optimizer and other passes over all parameters at once."""
    g, p, m, v = normal(n), normal(n, seed=1), np.zeros(n, np.float32), np.zeros(n, np.float32)
    norm, lr, step = np.zeros((), np.float32), np.array(1e-3, np.float32), np.array(5, np.int64)
    scale = np.array(0.5, np.float32)
    tg, tp, tm, tv = map(torch.from_numpy, (g, p.copy(), m.copy(), v.copy()))
    state = torch.tensor(5.0)

    def torch_adam() -> None:
        torch._fused_adamw_(
            [tp],
            [tg],
            [tm],
            [tv],
            [],
            [state],
            lr=1e-3,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.1,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )

    bits = np.array([3, 0], np.int64)
    return [
        (f"adamw {n}", cpu.prepare("AdamAccumulateGrad", [g, lr, step, None], [p, m, v], weight_decay=0.1), torch_adam),
        (f"squared norm {n}", cpu.prepare("SquaredNorm", [g], [norm]), lambda: torch.linalg.vector_norm(tg)),
        (f"accumulate {n}", cpu.prepare("AccumulateGrad", [g, scale], [p]), lambda: tp.add_(tg, alpha=0.5)),
        (f"fill {n}", cpu.prepare("Fill", [], [v], value=0.0), lambda: tv.zero_()),
        (f"copy {n}", cpu.prepare("Copy", [g], [v]), lambda: tv.copy_(tg)),
        (f"normal {n}", cpu.prepare("NormalForward", [bits], [m]), lambda: tm.normal_()),
        (f"uniform {n}", cpu.prepare("UniformForward", [bits], [m]), lambda: tm.uniform_()),
    ]


def measure(case: Case, rounds: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Best seconds of ours and of PyTorch's, taken in turn; small cases repeat inside a round."""
    _, ours, theirs = case
    begin = clock()
    ours()
    theirs()
    repeat = max(2, min(200, int(0.02 / max(clock() - begin, 1e-7))))
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for side, function in zip(found, (ours, theirs), strict=True):
            time.sleep(0.02)  # the other side's threads go on spinning for a while after its last call
            function()
            begin = clock()
            for _ in range(repeat):
                function()
            side.append((clock() - begin) / repeat)
    return min(found[0]), min(found[1])


def main() -> None:
    """Run the cases and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--cpu-time", action="store_true", help="the caller's processor time: on a busy machine, with --threads 1"
    )
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    clock = time.thread_time if args.cpu_time else time.perf_counter
    cpu = Cpu(threads=args.threads, isa=args.isa)
    groups: list[Callable[[], list[Case]]] = [
        lambda: linear_cases(cpu, 256, 768, 768),
        lambda: linear_cases(cpu, 256, 768, 2304),
        lambda: linear_cases(cpu, 256, 768, 3072),
        lambda: linear_cases(cpu, 256, 3072, 768),
        lambda: linear_cases(cpu, 256, 768, 50257),
        lambda: attention_cases(cpu, 4, 64, 12, 64),
        lambda: row_cases(cpu, 256, 768),
        lambda: head_cases(cpu, 256, 50257, 768),
        lambda: flat_cases(cpu, 30_000_000),
        lambda: flat_cases(cpu, 600_000),
    ]
    print(f"{'case':34} {'ours ms':>10} {'torch ms':>10} {'ratio':>7}")
    for group in groups:
        for case in group():
            if args.only in case[0]:
                ours, theirs = measure(case, args.rounds, clock)
                print(f"{case[0]:34} {ours * 1e3:10.3f} {theirs * 1e3:10.3f} {ours / theirs:7.2f}", flush=True)


if __name__ == "__main__":
    main()
