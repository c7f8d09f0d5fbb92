"""GPT-2 trained beside a GPT-2 written in plain PyTorch for this test: the same weights, data and settings."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import infinitrain as it  # noqa: E402
from infinitrain.models import GPT2, GPT2Config  # noqa: E402
from infinitrain.optim import AdamW, WarmupCosineLR, clip_coefficient, clip_grad_norm_  # noqa: E402

F = torch.nn.functional
CONFIG = GPT2Config(vocab_size=211, block_size=32, n_layer=3, n_head=4, n_embd=48)
STEPS = 10
BATCH, TIME = 4, 24
SETTINGS = {"lr": 3e-3, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1}
MAX_NORM = 1.0
WARMUP, TOTAL, FLOOR = 3, STEPS, 3e-4


class Block(torch.nn.Module):
    def __init__(self, c):
        super().__init__()
        width = c.n_embd
        self.n_head = c.n_head
        self.ln_1 = torch.nn.LayerNorm(width)
        self.attn = torch.nn.ModuleDict(
            {"c_attn": torch.nn.Linear(width, 3 * width), "c_proj": torch.nn.Linear(width, width)}
        )
        self.ln_2 = torch.nn.LayerNorm(width)
        self.mlp = torch.nn.ModuleDict(
            {"c_fc": torch.nn.Linear(width, 4 * width), "c_proj": torch.nn.Linear(4 * width, width)}
        )

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.attn["c_attn"](self.ln_1(x)).split(c, dim=2)
        q, k, v = (part.view(b, t, self.n_head, c // self.n_head).transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.n_head)
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        x = x + self.attn["c_proj"]((weights @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))


class TorchGPT2(torch.nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte = torch.nn.Embedding(c.vocab_size, c.n_embd)
        self.wpe = torch.nn.Embedding(c.block_size, c.n_embd)
        self.h = torch.nn.ModuleList(Block(c) for _ in range(c.n_layer))
        self.ln_f = torch.nn.LayerNorm(c.n_embd)
        self.lm_head = torch.nn.Linear(c.n_embd, c.vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)


def batch(step):
    """Two batches in turn, of tokens that can be learned: each is the one before plus a small number."""
    rng = np.random.default_rng(step % 2)
    steps = rng.integers(1, 4, (BATCH, TIME + 1)).cumsum(axis=1)
    tokens = (rng.integers(0, CONFIG.vocab_size, (BATCH, 1)) + steps) % CONFIG.vocab_size
    return tokens[:, :-1], tokens[:, 1:].copy()


def pair(device):
    """Give our model and PyTorch's with the same weights."""
    ours = GPT2(CONFIG, device=device, generator=it.Generator(1337))
    theirs = TorchGPT2(CONFIG)
    state = {name: torch.from_numpy(np.array(value.cpu().numpy())) for name, value in ours.state_dict().items()}
    result = theirs.load_state_dict(state)
    assert not result.missing_keys
    assert not result.unexpected_keys
    return ours, theirs


def ours_trained(model, device, steps=STEPS):
    """Run AdamW steps with clipping and the schedule; give the losses and the norms."""
    optimizer = AdamW(model.named_parameters(), **SETTINGS)
    schedule = WarmupCosineLR(optimizer, WARMUP, TOTAL, FLOOR)
    losses, norms = [], []
    for step in range(steps):
        idx, targets = batch(step)
        _, loss = model(it.tensor(idx, device=device), it.tensor(targets, device=device))
        loss.backward()
        norm, factor = clip_coefficient(model.parameters(), MAX_NORM)
        optimizer.step(grad_scale=factor)
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
        norms.append(norm.item())
    return losses, norms


def theirs_trained(model, steps=STEPS):
    optimizer = torch.optim.AdamW(model.parameters(), **SETTINGS, foreach=False)
    peak = SETTINGS["lr"]
    top = WARMUP - 1

    def curve(t):
        if t <= top:
            return (t + 1) / WARMUP
        share = min((t - top) / (TOTAL - 1 - top), 1.0)
        return (FLOOR + (peak - FLOOR) * (1 + math.cos(math.pi * share)) / 2) / peak

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, curve)
    losses, norms = [], []
    for step in range(steps):
        idx, targets = (torch.from_numpy(array) for array in batch(step))
        _, loss = model(idx, targets)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM).item())
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
    return losses, norms


def test_ten_adamw_steps_equal_pytorch(device):
    """Losses to 1e-4 relative, and every parameter at the end."""
    ours, theirs = pair(device)
    losses, norms = ours_trained(ours, device)
    expected_losses, expected_norms = theirs_trained(theirs)

    np.testing.assert_allclose(losses, expected_losses, rtol=1e-4)
    np.testing.assert_allclose(norms, expected_norms, rtol=1e-3)
    assert losses[-1] < losses[0] - 0.5  # it did learn
    assert max(norms) > MAX_NORM  # and clipping did act
    final = dict(theirs.named_parameters())
    assert set(final) == {name for name, _ in ours.named_parameters()}
    for name, parameter in ours.named_parameters():
        # Ten steps of at most 3e-3 move a weight by up to 2e-2; what is apart is rounding, which Adam enlarges
        # where a gradient is nearly 0 (7e-6 were seen).
        np.testing.assert_allclose(
            parameter.detach().cpu().numpy(), final[name].detach().numpy(), rtol=1e-4, atol=5e-5, err_msg=name
        )


def test_logits_and_gradients_equal_pytorch_in_float64(device):
    ours, theirs = pair(device)
    ours.to(it.float64)
    theirs.double()
    idx, targets = batch(0)
    targets[0, :7] = -100
    logits, loss = ours(it.tensor(idx, device=device), it.tensor(targets, device=device))
    expected_logits, expected_loss = theirs(torch.from_numpy(idx), torch.from_numpy(targets))
    loss.backward()
    expected_loss.backward()

    np.testing.assert_allclose(logits.detach().cpu().numpy(), expected_logits.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert loss.item() == pytest.approx(expected_loss.item(), rel=1e-12)
    expected = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        np.testing.assert_allclose(
            parameter.grad.cpu().numpy(), expected[name].grad.numpy(), rtol=1e-7, atol=1e-12, err_msg=name
        )


def test_accumulated_gradients_equal_one_batch(device):
    """BC-007: 16 valid targets at once, and as micro-batches of 3 and 13, divided by 16 each."""
    ours, theirs = pair(device)
    idx, targets = batch(0)
    idx, targets = idx[:2, :16], np.full((2, 16), -100)
    shifted = batch(0)[1][:2, :16]
    targets[0, 2:5] = shifted[0, 2:5]
    targets[1, 3:16] = shifted[1, 3:16]
    assert (targets >= 0).sum() == 16

    def on(array):
        return it.tensor(array, device=device)

    total = 0.0
    for row in (0, 1):
        logits, _ = ours(on(idx[row : row + 1]))
        part = it.cross_entropy(logits[0], on(targets[row]), reduction="sum") / 16.0
        part.backward()
        total += part.item()
    _, expected = theirs(torch.from_numpy(idx), torch.from_numpy(targets))
    expected.backward()

    assert total == pytest.approx(expected.item(), rel=1e-5)
    grads = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        np.testing.assert_allclose(
            parameter.grad.cpu().numpy(), grads[name].grad.numpy(), rtol=1e-3, atol=2e-6, err_msg=name
        )
    ours.zero_grad()
    _, whole = ours(on(idx), on(targets))
    whole.backward()
    assert whole.item() == pytest.approx(total, rel=1e-5)
    for name, parameter in ours.named_parameters():
        np.testing.assert_allclose(
            parameter.grad.cpu().numpy(), grads[name].grad.numpy(), rtol=1e-3, atol=2e-6, err_msg=name
        )


def test_greedy_generation_equals_pytorch(device):
    ours, theirs = pair(device)
    ours_trained(ours, device, 3)
    with torch.no_grad():
        for name, parameter in ours.named_parameters():
            theirs.get_parameter(name).copy_(torch.from_numpy(np.array(parameter.detach().cpu().numpy())))
        idx = torch.tensor([[5, 6, 7], [100, 90, 80]])
        expected = idx
        for _ in range(40):
            seen = expected[:, -CONFIG.block_size :]
            logits, _ = theirs(seen, torch.zeros_like(seen))
            expected = torch.cat([expected, logits[:, -1].argmax(1, keepdim=True)], 1)

    found = ours.generate(it.tensor(idx.numpy(), device=device), 40, temperature=0.0)
    np.testing.assert_array_equal(found.cpu().numpy(), expected.numpy())


def test_clipping_in_place_gives_the_same_step_as_the_factor(device):
    """The trainer's way, a factor on the device, against torch's, gradients scaled in place."""
    values = []
    for in_place in (True, False):
        model, _ = pair(device)
        optimizer = AdamW(model.parameters(), **SETTINGS)
        idx, targets = batch(1)
        model(it.tensor(idx, device=device), it.tensor(targets, device=device))[1].backward()
        if in_place:
            clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        else:
            optimizer.step(grad_scale=clip_coefficient(model.parameters(), 0.5)[1])
        values.append([parameter.detach().cpu().numpy().copy() for parameter in model.parameters()])

    for one, two in zip(*values, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-7)
