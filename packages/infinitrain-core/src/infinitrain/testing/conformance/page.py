"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import Any

from infinitrain_capi.table import DTYPES

from infinitrain.testing.conformance.report import AREAS

__all__ = ["render"]

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; } th, td { padding: .15rem .5rem; text-align: left; }
th { border-bottom: 1px solid #bbb; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.bar { background: #6aa3d5; height: .8rem; }
.passed { background: #e3f4e4; } .failed { background: #f9d7d7; } .skipped { color: #8a9099; }
code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { background: #f4f5f7; padding: .5rem; white-space: pre-wrap; }
"""
#: ITP_CAP_* by bit.
_CAPABILITIES = (
    *("host-readable", "stream-ordered alloc", "own cache", "pinned memory", "peer copies", "timing events", "graphs"),
    "deterministic",
)


def render(report: dict[str, Any]) -> str:
    """Write the page of a report as JSON has it."""
    provider = report["provider"]
    title = f"{provider.get('name', '?')} {provider.get('version', '')}: conformance to ABI {report['abi']}"
    parts = [f"<h1>{escape(title)}</h1>", _facts(report), "<h2>Tiers</h2>", _tiers(report["tiers"])]
    parts += [_models(report["models"])]
    parts += ["<h2>Kernels</h2>", _kernels(report["kernels"]), "<h2>Contract</h2>", _contract(report["contract"])]
    parts += [_performance(report["performance"]), _failures(report["tests"])]
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>\n{body}\n</body></html>\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    """Join cells, which are `<td ...>...` already, to a table."""
    top = "".join(f"<th>{escape(each)}</th>" for each in head)
    return f"<table><tr>{top}</tr>\n" + "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>"


def _cell(text: object, kind: str = "") -> str:
    return f'<td class="{kind}">{escape(str(text))}</td>'


def _facts(report: dict[str, Any]) -> str:
    provider, summary = report["provider"], report["summary"]
    caps = int(provider.get("caps", 0))
    facts = {
        "vendor": provider.get("vendor"),
        "library": provider.get("path"),
        "build": provider.get("build_info"),
        "device": f"{provider.get('device')}: {provider.get('device_name')}, one of {provider.get('devices')}",
        "memory": f"{int(provider.get('total_memory', 0)) / 2**30:.1f} GiB",
        "capabilities": ", ".join(name for bit, name in enumerate(_CAPABILITIES) if caps >> bit & 1) or "none",
        "tests": ", ".join(f"{count} {outcome}" for outcome, count in sorted(summary.items())),
    }
    return _table(["", ""], [[_cell(key), _cell(value)] for key, value in facts.items()])


def _tiers(tiers: dict[Any, Any]) -> str:
    rows = []
    for tier, counts in tiers.items():
        complete = "passed" if counts["right"] == counts["kernels"] else "failed" if counts["wrong"] else "skipped"
        right = f"{counts['right']} of {counts['kernels']}"
        lists = [_cell(", ".join(counts[key])) for key in ("missing", "wrong")]
        rows.append([_cell(tier), _cell(right, complete), *lists])
    return _table(["tier", "right", "missing", "wrong"], rows)


def _models(models: dict[str, list[str]]) -> str:
    rows = []
    for family, lacks in models.items():
        said = f"lacks {', '.join(lacks)}" if lacks else "can be trained"
        rows.append([_cell(family), _cell(said, "failed" if lacks else "passed")])
    return f"<h2>Models</h2>{_table(['family', ''], rows)}" if rows else ""


def _kernels(kernels: list[dict[str, Any]]) -> str:
    """One row for each kernel, one column for each dtype of T; for a row with U the worst over U."""
    by_name: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for each in kernels:
        by_name.setdefault(each["kernel"], {}).setdefault(each["T"], []).append(each)
    rows = []
    for name, by_dtype in by_name.items():
        cells = [_cell(name)]
        for dtype in ("", *DTYPES):
            found = by_dtype.get(dtype, [])
            ran = [each for each in found if each["outcome"] != "skipped"]
            if any(each["outcome"] == "failed" for each in ran):
                cells.append(_cell("fail", "n failed"))
            elif ran:
                cells.append(_cell(f"{max(each['worst'] or 0.0 for each in ran):.2g}", "n passed"))
            else:
                cells.append(_cell("-" if found else "", "n skipped"))
        rows.append(cells)
    note = "<p>The worst error as a share of the tolerance; 0: all bits right; -: not offered.</p>"
    return note + _table(["kernel", "no T", *DTYPES], rows)


def _contract(contract: dict[str, str]) -> str:
    rows = []
    for area, title in AREAS.items():
        chosen = [(name, outcome) for name, outcome in contract.items() if name.split("-")[1] == area]
        cells = "".join(f'<code class="{outcome}">{name.split("-")[2]}</code> ' for name, outcome in chosen)
        rows.append([_cell(f"ITP-{area}"), _cell(title), f"<td>{cells}</td>"])
    return _table(["ids", "section", "sentences"], rows)


def _performance(performance: dict[str, Any] | None) -> str:
    """Launches, copies, and each kernel's share of the roofline as a bar, the lowest first."""
    if performance is None:
        return ""
    if "failed" in performance:
        return f"<h2>Performance</h2><p>Not measured:</p><pre>{escape(performance['failed'])}</pre>"
    roofline = performance["roofline"]
    rows = [
        [_cell(f"launch, {_words(name)}"), _cell(f"{s * 1e6:.2f} us", "n")]
        for name, s in performance["launch_s"].items()
    ]
    rows += [
        [_cell(f"copy, {_words(name)}"), _cell(f"{rate / 1e9:.1f} GB/s", "n")]
        for name, rate in performance["copy_bytes_per_s"].items()
    ]
    rows.append([_cell("roofline, memory"), _cell(f"{roofline['bytes_per_s'] / 1e9:.1f} GB/s", "n")])
    rows += [
        [_cell(f"roofline, {dtype}"), _cell(f"{rate / 1e9:,.0f} GFLOP/s", "n")]
        for dtype, rate in roofline["flops_per_s"].items()
    ]
    kernels = []
    for each in sorted(performance["kernels"], key=lambda one: float(one["roofline_share"])):
        share = float(each["roofline_share"])
        bar = f'<td><div class="bar" style="width:{min(share, 1.0) * 12:.2f}rem"></div></td>'
        rate = (
            f"{each['flops_per_s'] / 1e9:,.1f} GFLOP/s"
            if each["flops_per_s"]
            else f"{each['bytes_per_s'] / 1e9:,.1f} GB/s"
        )
        name = f"{each['kernel']} {each['dtype']}"
        kernels.append([_cell(name), _cell(each["size"]), _cell(rate, "n"), _cell(f"{share:.0%}", "n"), bar])
    note = (
        "<p>On the machine of this run, whatever else it did. The roofline is what the device itself reaches in its "
        "best copy and its best product; a share above 100 % comes from caches.</p>"
    )
    table = _table(["kernel", "size", "rate", "of the roofline", ""], kernels)
    return f"<h2>Performance</h2>{note}{_table(['', ''], rows)}{table}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _failures(tests: list[dict[str, Any]]) -> str:
    failed = [each for each in tests if each["outcome"] == "failed"]
    if not failed:
        return ""
    items = (f"<h3>{escape(each['name'])}</h3><pre>{escape(each['message'])}</pre>" for each in failed)
    return "<h2>Failures</h2>" + "\n".join(items)
