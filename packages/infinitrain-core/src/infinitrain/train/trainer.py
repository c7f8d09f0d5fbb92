"""The training loop: batches, gradients, clipping, AdamW, evaluation, checkpoints. It knows no model by name."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Any

from rich.console import Console

from infinitrain import random
from infinitrain.autograd import no_grad
from infinitrain.checkpoint import latest_checkpoint, load_checkpoint, read_state, save_checkpoint
from infinitrain.data import Batches, Split, TokenizedCorpus, prepare
from infinitrain.device import Device
from infinitrain.errors import CheckpointError, DeviceError, InfinitrainError, KernelError, TrainingDiverged
from infinitrain.memory import max_memory_allocated, reset_peak_memory_stats
from infinitrain.models import LanguageModel, create
from infinitrain.models.requirements import check_kernels
from infinitrain.ops.create import tensor
from infinitrain.optim import AdamW, clip_coefficient, warmup_cosine
from infinitrain.program import compile
from infinitrain.stream import synchronize
from infinitrain.tensor import Tensor
from infinitrain.train.config import TrainConfig
from infinitrain.train.interrupt import Interrupt
from infinitrain.train.progress import Display
from infinitrain.train.queued import QueuedStep
from infinitrain.train.records import RunFolder, StepRecord, read_log

__all__ = ["Trainer"]


class Trainer:
    """One run.

    Args:
        config: What to train, on what, how and where to.
        console: Where progress is printed, standard error by default.

    Raises: ConfigError, DeviceNotFound, KernelNotFound, DataError: what is wrong is said before the first step.
    """

    def __init__(self, config: TrainConfig, console: Console | None = None) -> None:
        self.config = config
        self.console = console
        self.device = Device(config.device)
        check_kernels(config.model, self.device, dropout=config.dropout > 0, accumulates=config.accumulate > 1)
        self.corpus: TokenizedCorpus = prepare(config.data, config.vocabulary)
        seed = config.seed
        self.train_batches = Batches(self.corpus.train, config.batch_size, config.seq_len, seed)
        self.validation = Batches(self.corpus.validation, config.batch_size, config.seq_len)
        self.folder = RunFolder(config.run_folder, resume=config.resume, overwrite=config.overwrite)
        try:
            random.manual_seed(seed)
            changes: dict[str, Any] = {"dropout": config.dropout} if config.dropout else {}
            self.model: LanguageModel = create(config.model, device=self.device, **changes)
            self.optimizer = self._make_optimizer()
        except BaseException:
            self.folder.close()
            raise
        self._step = self._take_step if config.eager else compile(self._take_step)
        #: Steps taken, handed to the device, and read back.
        self.step = self._queued = self._recorded = 0
        self.val_loss = math.nan
        self.seconds = 0.0

    def _make_optimizer(self) -> AdamW:
        """Let matrices decay, and biases and norms not, as GPT-2's and GPT-3's training did."""
        named = list(self.model.named_parameters())
        groups = [
            {"params": [each for each in named if each[1].ndim >= 2], "weight_decay": self.config.weight_decay},
            {"params": [each for each in named if each[1].ndim < 2], "weight_decay": 0.0},
        ]
        config = self.config
        return AdamW([group for group in groups if group["params"]], lr=config.lr, betas=(config.beta1, config.beta2))

    # ---- a run ----

    def run(self) -> int:
        """Train to the end, or until a signal; gives the exit code.

        Raises: TrainingDiverged when the loss is no number any more; OSError for a full disk; DeviceLost, AsyncError
            and other failures of the device, with the step and the last checkpoint.
        """
        try:
            if self.config.resume:
                self._resume()
            with Interrupt() as interrupt, Display(self.config.steps, self.console) as display:
                self._announce(display)
                reset_peak_memory_stats(self.device)
                try:
                    self._train(display, interrupt)
                except (DeviceError, KernelError) as error:
                    error.args = (self._stopped(error), *error.args[1:])
                    raise
                if interrupt.received is not None:
                    path = self._save()
                    display.say(f"{interrupt.received.name}: checkpoint saved at {path}. Go on with --resume")
                    return interrupt.exit_code
            self._finish(display)
        finally:
            self.folder.close()
        return 0

    def _announce(self, display: Display) -> None:
        config, provider = self.config, self.device.provider
        display.say(
            f"{config.model}: {self.model.num_parameters():,} parameters on {self.device} "
            f"({provider.vendor} {provider.name} {provider.version}), {config.tokens_per_step:,} tokens a step"
        )
        display.say(
            f"{self.corpus.name}: {len(self.corpus.train):,} tokens to learn from, "
            f"{len(self.corpus.validation):,} to validate, unigram entropy {self.corpus.unigram_entropy:.3f}"
        )

    def _train(self, display: Display, interrupt: Interrupt) -> None:
        """Queue steps and record them; the host reads a step while the device already works on the next one."""
        config = self.config
        behind: QueuedStep | None = None
        while self.step < config.steps and interrupt.received is None:
            queued = self._queue(self.step)
            self.step += 1
            if behind is not None:
                self._record(behind, display)
            last = self.step == config.steps
            evaluates = last or _due(self.step, config.eval_every)
            saves = last or _due(self.step, config.checkpoint_every)
            # A device that works while it is called has nothing to gain from waiting.
            if evaluates or saves or queued.ready():
                self._record(queued, display, evaluates=evaluates)
                behind = None
            else:
                behind = queued
            if saves:
                self._save()
        if behind is not None:
            self._record(behind, display)

    def _stopped(self, error: InfinitrainError) -> str:
        """Say in which step a failure came up, and from where to go on."""
        first, last = self._recorded + 1, max(self._recorded + 1, self._queued)
        steps = f"step {first}" if first == last else f"steps {first} to {last}"
        saved = latest_checkpoint(self.folder.checkpoints) if self.folder.checkpoints.is_dir() else None
        way = (
            "There is no checkpoint yet: start anew with --overwrite"
            if saved is None
            else f"The last checkpoint is {saved}: go on from it with --resume"
        )
        return f"training stopped in {steps} on {self.device}: {error}. {way}"

    def _queue(self, step: int) -> QueuedStep:
        """Hand one optimizer step to the device: nothing here waits for it."""
        self._queued = step + 1
        config, queued = self.config, QueuedStep(self.device, step + 1)
        lr = warmup_cosine(step, config.lr, config.warmup_steps, config.steps, config.min_lr)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        first = step * config.accumulate
        parts = [self._to_device(self.train_batches.at(first + part)) for part in range(config.accumulate)]
        losses, norm = self._step(parts)
        queued.complete(lr, losses, norm)
        return queued

    def _take_step(self, parts: list[tuple[Tensor, Tensor]]) -> tuple[list[Tensor], Tensor]:
        """Update the model from the batches of one step; gives their losses and the norm of the gradient."""
        config = self.config
        self.optimizer.zero_grad(set_to_none=True)
        losses = []
        for inputs, targets in parts:
            loss = self.model(inputs, targets)[1]  # nobody keeps the logits
            # Every target counts, so the mean over the whole step is the mean of the parts' means.
            share = loss if len(parts) == 1 else loss * (1.0 / len(parts))
            share.backward()
            losses.append(loss.detach())
        norm, factor = clip_coefficient(self.model.parameters(), config.clip or math.inf)
        self.optimizer.step(grad_scale=factor if config.clip else None)
        return losses, norm

    def _record(self, queued: QueuedStep, display: Display, *, evaluates: bool = False) -> None:
        """Wait for a step, then log and show it.

        Raises: TrainingDiverged for a number that is not finite, before it can reach a checkpoint.
        """
        loss, norm = queued.read()
        seconds = queued.seconds()
        self.seconds += seconds
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise self._diverged(queued.step, f"loss {loss}, gradient norm {norm}")
        record = StepRecord(
            step=queued.step,
            loss=loss,
            lr=queued.lr,
            grad_norm=norm,
            tokens_per_s=self.config.tokens_per_step / seconds,
            peak_memory_bytes=max_memory_allocated(self.device),
            val_loss=self.evaluate() if evaluates else None,
        )
        self.folder.log(record)
        self._recorded = queued.step
        display.step(record, seconds)

    def _diverged(self, step: int, found: str) -> TrainingDiverged:
        return TrainingDiverged(
            f"step {step}: {found}: expected finite numbers. The last checkpoint is from before. Train with a smaller "
            f"--lr (now {self.config.lr:g}), more --warmup-steps, or --clip 1"
        )

    def _to_device(self, batch: Split) -> tuple[Tensor, Tensor]:
        return tensor(batch.inputs, device=self.device), tensor(batch.targets, device=self.device)

    def evaluate(self) -> float:
        """Give the mean loss over the validation batches, in nats a token.

        Raises: TrainingDiverged if it is not finite.
        """
        total = count = 0.0
        self.model.eval()
        try:
            with no_grad():
                for batch in self.validation.in_order(self.config.eval_batches):
                    loss = self.model(*self._to_device(batch))[1]
                    total += loss.item() * batch.targets.size
                    count += batch.targets.size
        finally:
            self.model.train()
        if not math.isfinite(total):
            raise self._diverged(self.step, f"validation loss {total / count}")
        self.val_loss = total / count
        return self.val_loss

    # ---- checkpoints ----

    def _save(self) -> Path:
        synchronize(self.device)
        return save_checkpoint(
            self.folder.checkpoints,
            model=self.model,
            optimizer=self.optimizer,
            step=self.step,
            consumed_tokens=self.step * self.config.tokens_per_step,
            data={"next_step": self.step, "digest": self.corpus.digest},
            extra={"settings": self.config.fixed(), "seconds": self.seconds, "val_loss": _finite(self.val_loss)},
            keep=self.config.keep_checkpoints,
        )

    def _resume(self) -> None:
        """Take up the last checkpoint of the run.

        Raises: CheckpointError if there is none, it is damaged, or settings or data differ from its.
        """
        if not self.folder.checkpoints.is_dir():
            raise CheckpointError(f"--resume: {self.folder.path} has no checkpoint. Start anew with --overwrite")
        state = read_state(self.folder.checkpoints)
        saved, now = state.extra["settings"], self.config.fixed()
        different = [
            f"{name}: saved {saved.get(name)!r}, now {now[name]!r}" for name in now if saved.get(name) != now[name]
        ]
        if different:
            raise CheckpointError(f"--resume: expected the run's settings, found others: {'; '.join(different)}")
        if state.data.get("digest") != self.corpus.digest:
            raise CheckpointError(
                f"--resume: expected the text that the run began with, found another in {self.corpus.name}. Give the "
                "run's --data, or start anew with --overwrite"
            )
        load_checkpoint(state.path, model=self.model, optimizer=self.optimizer)
        self.step = self._queued = self._recorded = state.step
        self.seconds = state.extra["seconds"]
        self.val_loss = math.nan if state.extra["val_loss"] is None else state.extra["val_loss"]
        self.folder.keep_log_until(self.step)

    # ---- the end ----

    def _finish(self, display: Display) -> None:
        """Write sample, curve and summary, and show them."""
        from infinitrain.train.curve import draw

        config, corpus, provider = self.config, self.corpus, self.device.provider
        if math.isnan(self.val_loss):
            self.evaluate()
        records = read_log(self.folder.path)
        sample = self._sample()
        self.folder.write(RunFolder.SAMPLE, sample + "\n")
        title = f"{config.model} on {corpus.name}, {self.device}"
        draw(self.folder.path / RunFolder.CURVE, records, corpus.unigram_entropy, title)
        tokens_per_s = len(records) * config.tokens_per_step / self.seconds if self.seconds else 0.0
        self.folder.write_summary(
            {
                "model": config.model,
                "parameters": self.model.num_parameters(),
                "device": str(self.device),
                "provider": provider.name,
                "provider_version": provider.version,
                "data": corpus.name,
                "seed": config.seed,
                "steps": self.step,
                "tokens_per_step": config.tokens_per_step,
                "train_loss": records[-1].loss if records else None,
                "val_loss": self.val_loss,
                "unigram_entropy": corpus.unigram_entropy,
                "tokens_per_s": tokens_per_s,
                "peak_memory_bytes": max_memory_allocated(self.device),
                "seconds": self.seconds,
                "settings": config.fixed(),
            }
        )
        below = "below" if self.val_loss < corpus.unigram_entropy else "NOT below"
        folder = self.folder.path
        display.finish(
            {
                "validation loss": f"{self.val_loss:.4f}, {below} the unigram entropy {corpus.unigram_entropy:.4f}",
                "speed": f"{tokens_per_s:,.0f} tokens/s, {self.step} steps in {self.seconds:.0f} s",
                "log, summary": f"{folder / RunFolder.LOG}, {folder / RunFolder.SUMMARY}",
                "loss curve": str(folder / RunFolder.CURVE),
                "sample": str(folder / RunFolder.SAMPLE),
                "checkpoint": str(latest_checkpoint(self.folder.checkpoints) or "none: no step was taken"),
            },
            sample,
            self._what_next(),
        )

    def _sample(self) -> str:
        """Let the model write, from its own random numbers, so that a sample does not change a run."""
        config, tokenizer = self.config, self.corpus.tokenizer
        prompt = tokenizer.encode(config.prompt) or [tokenizer.end_of_text]
        prompt = prompt[-self.model.config.block_size :]
        tokens = self.model.generate(
            tensor([prompt], device=self.device),
            config.sample_tokens,
            config.temperature,
            config.top_k or None,
            random.Generator(config.seed),
        )
        return tokenizer.decode(tokens.tolist()[0])

    def _what_next(self) -> str:
        config = self.config
        if self.device.type == "cpu" and config.model != "gpt2":
            return (
                "infinitrain train gpt2 --steps 20    (the published 124M size; `infinitrain providers` lists devices)"
            )
        words = [
            "infinitrain",
            "train",
            config.model,
            "--device",
            str(self.device),
            "--steps",
            str(config.steps * 4 or 20),
        ]
        for name in ("data", "out"):
            if getattr(config, name) is not None:
                words += [f"--{name}", str(getattr(config, name))]
        return shlex.join([*words, "--overwrite"])


def _due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
