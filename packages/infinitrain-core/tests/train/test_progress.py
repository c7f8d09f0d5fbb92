"""What a person sees of a run."""

from __future__ import annotations

import io

from infinitrain.train.progress import Display
from rich.console import Console


def test_a_terminal_gets_a_bar_and_a_file_gets_lines(record):
    shown = {}
    for terminal in (True, False):
        out = io.StringIO()
        with Display(10, Console(file=out, force_terminal=terminal, width=140)) as display:
            display.step(record(10), 0.5)
        shown[terminal] = out.getvalue()

    assert "10/10" in shown[True]
    for words in ("5.000", "lr 1.0e-01", "9 tok/s", "1 MB", "left"):
        assert words in shown[True]
    assert "step   10/10 | train loss 5.000000 | lr 1.00e-01 | norm 1.0000 | (500.00 ms | 9 tok/s" in shown[False]


def test_text_is_shown_as_it_is():
    out = io.StringIO()
    display = Display(1, Console(file=out, width=100))
    display.say("data [old].txt")
    display.finish({"log": "/runs/[red]a/log.jsonl"}, "[Enter ROMEO]\n\n\n\n\n[/bold]", "infinitrain train [x]")

    for words in (
        "data [old].txt",
        "/runs/[red]a/log.jsonl",
        "[Enter ROMEO]",
        "[/bold]",
        "next: infinitrain train [x]",
    ):
        assert words in out.getvalue()
