from __future__ import annotations

import infinitrain as it
import pytest
from infinitrain import models
from infinitrain.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "millions"),
    [("gpt2", 124.4), ("gpt2-medium", 354.8), ("gpt2-large", 774.0), ("gpt2-xl", 1557.6)],
)
def test_published_sizes(name, millions):
    config = models.model_config(name)
    c = config.n_embd
    count = (config.vocab_size + config.block_size) * c + config.n_layer * (12 * c * c + 13 * c) + 2 * c

    assert count / 1e6 == pytest.approx(millions, abs=0.05)


def test_create_takes_changes(device):
    model = models.create("gpt2-tiny", device=device, dtype=it.bfloat16, generator=it.Generator(1), n_layer=1)

    assert model.config.n_layer == 1
    assert model.config.vocab_size == 50257
    assert model.wte.weight.dtype is it.bfloat16
    assert str(model.wte.weight.device) == str(it.Device(device))


def test_unknown_model_lists_the_names():
    with pytest.raises(ConfigError, match=r"model 'gpt9' is unknown: expected one of gpt2, gpt2-medium, .*gpt2-tiny"):
        models.create("gpt9")


def test_unknown_setting_lists_the_settings():
    with pytest.raises(ConfigError, match=r"expected settings among vocab_size, .*, found width"):
        models.model_config("gpt2", width=3)
