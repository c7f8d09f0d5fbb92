"""Environment variables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from infinitrain import config


def test_the_provider_path_is_separated_as_path_is(monkeypatch):
    monkeypatch.setenv("INFINITRAIN_PROVIDER_PATH", os.pathsep.join(["/a/b.so", "", "/c"]))

    assert config.provider_path() == [Path("/a/b.so"), Path("/c")]


def test_options_of_a_provider(monkeypatch):
    monkeypatch.setenv("INFINITRAIN_ACME_SPEED", "9")
    monkeypatch.setenv("INFINITRAIN_ACME_TWO_SPEED", "8")

    assert config.provider_options("acme") == {"speed": "9", "two_speed": "8"}
    assert config.provider_options("acme", ["acme_two"]) == {"speed": "9"}
    assert config.provider_options("acme_two") == {"speed": "8"}


def test_our_own_variables_are_nobodys_options(monkeypatch):
    monkeypatch.setenv("INFINITRAIN_PROVIDER_PATH", "/a")

    assert config.provider_options("provider") == {}


@pytest.mark.parametrize(
    ("text", "expected"), [("0.5", 500), ("0", 0), ("", 10_000), ("soon", 10_000), ("-1", 10_000), ("nan", 10_000)]
)
def test_the_exit_timeout(monkeypatch, text, expected):
    monkeypatch.setenv("INFINITRAIN_EXIT_TIMEOUT", text)

    assert config.exit_timeout_ms() == expected
