"""Where the memory of a recorded call lies: launches that matter, and one arena for what nobody outside holds."""

from __future__ import annotations

from dataclasses import dataclass

from infinitrain.program.tape import Block, Launch, Tape, Upload, View

__all__ = ["ALIGNMENT", "Plan", "make_plan"]

#: Of everything in the arena, in bytes; no device asks for more.
ALIGNMENT = 512


@dataclass(frozen=True)
class Plan:
    """What is launched, in order, and where its temporary memory lies.

    Attributes:
        launches: Those whose results somebody reads.
        offsets: The byte offset in the arena of each temporary block.
        workspace: The byte offset in the arena of the workspace of each launch, by position.
        arena: The arena's size in bytes.
        lower_bound: The most bytes that are in use at once: no plan needs less.
        constants: Blocks that hold bytes from the host, written once.
        draws: Uploads of a generator's state, in order.
        dropped: How many launches nobody needs.
    """

    launches: list[Launch]
    offsets: dict[int, int]
    workspace: dict[int, int]
    arena: int
    lower_bound: int
    constants: list[Upload]
    draws: list[Upload]
    dropped: int


@dataclass(slots=True)
class _Span:
    """Bytes in use from one launch to another, both included; `block` is -1 - position for a workspace.

    What outlives the call is in use until after the last launch.
    """

    block: int
    size: int
    first: int
    last: int


def make_plan(tape: Tape) -> Plan:
    """Plan the memory of a finished tape. Constants that the call overwrites are copied anew by a launch."""
    blocks = tape.blocks
    entries = _with_copies(tape)
    recorded = [entry for entry in entries if isinstance(entry, Launch)]
    launches = _needed(recorded, blocks)
    uploads = [entry for entry in entries if isinstance(entry, Upload)]
    placed = {upload.view.block for upload in uploads}
    spans = _spans(launches, blocks, placed)
    offsets, arena = _place(spans)
    return Plan(
        launches=launches,
        offsets={block: offset for block, offset in offsets.items() if block >= 0},
        workspace={-1 - block: offset for block, offset in offsets.items() if block < 0},
        arena=arena,
        lower_bound=_most_at_once(spans, len(launches)),
        constants=[upload for upload in uploads if upload.draw is None],
        draws=[upload for upload in uploads if upload.draw is not None],
        dropped=len(recorded) - len(launches),
    )


def _with_copies(tape: Tape) -> list[Launch | Upload]:
    """Give each constant that a launch writes over a block of its own to be copied from."""
    written = {
        view.block for entry in tape.entries if isinstance(entry, Launch) for view in entry.outputs if view is not None
    }
    entries: list[Launch | Upload] = []
    for entry in tape.entries:
        if isinstance(entry, Launch) or entry.view.block not in written:
            entries.append(entry)
            continue
        assert tape.device is not None
        kernel = tape.device.provider.kernels["Copy"]
        source = View(len(tape.blocks), entry.view.shape, entry.view.strides, 0, entry.view.dtype)
        tape.blocks.append(Block(len(entry.data)))
        entries.append(Upload(source, entry.data, entry.line, entry.draw))
        entries.append(Launch(kernel, {}, None, (source, entry.view), 0, entry.line))
    return entries


def _needed(launches: list[Launch], blocks: list[Block]) -> list[Launch]:
    """Keep the launches that write what outlives the call, or what a later one that is kept reads."""
    read: set[int] = set()
    kept: list[Launch] = []
    for launch in reversed(launches):
        outputs = [view.block for view in launch.outputs if view is not None]
        if not any(block in read or blocks[block].outlives for block in outputs):
            continue
        kept.append(launch)
        read.update(view.block for view in launch.inputs if view is not None)
        for operand, view in zip(launch.kernel.row.outputs, launch.outputs, strict=True):
            if operand.inout and view is not None:
                read.add(view.block)
    kept.reverse()
    return kept


def _spans(launches: list[Launch], blocks: list[Block], placed: set[int]) -> list[_Span]:
    """Say from when to when each temporary block and workspace is in use."""
    spans: dict[int, _Span] = {}
    for position, launch in enumerate(launches):
        for view in launch.views:
            if view is None or blocks[view.block].fixed is not None or view.block in placed:
                continue
            block = blocks[view.block]
            last = len(launches) if block.result else position
            spans.setdefault(view.block, _Span(view.block, _aligned(block.nbytes), position, last)).last = last
        if launch.workspace:
            spans[-1 - position] = _Span(-1 - position, _aligned(launch.workspace), position, position)
    return list(spans.values())


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _place(spans: list[_Span]) -> tuple[dict[int, int], int]:
    """Give offsets so that spans of one time do not meet: largest first, each as low as it fits.

    Source: greedy by size, Pisarchyk and Lee 2020, arXiv:2001.03288.
    """
    placed: list[tuple[int, int, _Span]] = []  # begin, end, sorted by begin
    offsets: dict[int, int] = {}
    for span in sorted(spans, key=lambda each: (-each.size, each.first)):
        begin = 0
        for low, high, other in placed:
            if other.last < span.first or span.last < other.first:
                continue
            if low >= begin + span.size:
                break
            begin = max(begin, high)
        offsets[span.block] = begin
        _insert(placed, (begin, begin + span.size, span))
    return offsets, max((high for _, high, _ in placed), default=0)


def _insert(placed: list[tuple[int, int, _Span]], entry: tuple[int, int, _Span]) -> None:
    low, high = 0, len(placed)
    while low < high:
        middle = (low + high) // 2
        if placed[middle][0] < entry[0]:
            low = middle + 1
        else:
            high = middle
    placed.insert(low, entry)


def _most_at_once(spans: list[_Span], count: int) -> int:
    change = [0] * (count + 2)
    for span in spans:
        change[span.first] += span.size
        change[span.last + 1] -= span.size
    most = now = 0
    for step in change:
        now += step
        most = max(most, now)
    return most
