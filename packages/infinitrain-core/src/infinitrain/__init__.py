"""Train language models on any accelerator whose vendor ships one shared library.

    import infinitrain as it

    x = it.tensor([[1.0, 2.0], [3.0, 4.0]], device="fake:1")
"""

from infinitrain import errors
from infinitrain._abi.registry import configure, load_provider
from infinitrain.device import (
    Device,
    current_device,
    device,
    device_count,
    device_guard,
    get_default_device,
    set_default_device,
)
from infinitrain.dtype import (
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from infinitrain.memory import (
    empty_cache,
    max_memory_allocated,
    memory_allocated,
    memory_stats,
    reset_peak_memory_stats,
)
from infinitrain.stream import Event, Stream, current_stream, synchronize

__version__ = "0.1.0"
