"""What a vendor and the core change from one release to the next, made on the files that were released."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path


def record_copies(folder: Path) -> None:
    """Let a scaffolded provider append each copy to the file CALL_LOG, and own memory that the host may not touch.

    Its memory really is the host's, so nothing stops the core from reading it, except that it is told not to.
    """
    (source,) = (folder / "csrc").glob("runtime.c*")
    name = folder.name.removeprefix("infinitrain-")
    text = source.read_text()
    copying = "std::memmove(c->dst" if source.suffix == ".cc" else "memmove(c->dst"
    log = f"""const char *path = getenv("CALL_LOG");
  FILE *file = path != NULL ? fopen(path, "a") : NULL;
  if (file != NULL) {{
    fprintf(file, "{name} copies to %d from %d\\n", (int)c->dst_device, (int)c->src_device);
    fclose(file);
  }}
  """
    for old, new in (
        (copying, log + copying),
        ("ITP_CAP_HOST_READABLE | ", ""),
        ('#include "internal.h"\n', '#include "internal.h"\n#include <stdio.h>\n#include <stdlib.h>\n'),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    source.write_text(text)


def release(folder: Path, version: str) -> None:
    """Give a scaffolded provider another version."""
    for path in (folder / "pyproject.toml", *(folder / "csrc").glob("provider.c*")):
        text = path.read_text()
        assert text.count('"0.1.0"') == 1
        path.write_text(text.replace('"0.1.0"', f'"{version}"'))


def release_wheel(wheel: Path, version: str, folder: Path) -> Path:
    """Write a wheel again under another version."""
    with zipfile.ZipFile(wheel) as old:
        contents = {name: old.read(name) for name in old.namelist()}
    name, before, *tags = wheel.stem.split("-")
    head, new_head = f"{name}-{before}.dist-info/", f"{name}-{version}.dist-info/"
    contents = {path.replace(head, new_head): data for path, data in contents.items()}
    metadata = contents[f"{new_head}METADATA"]
    contents[f"{new_head}METADATA"] = metadata.replace(
        f"\nVersion: {before}\n".encode(), f"\nVersion: {version}\n".encode()
    )
    del contents[f"{new_head}RECORD"]
    lines = []
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}")
    contents[f"{new_head}RECORD"] = "\n".join([*lines, f"{new_head}RECORD,,", ""]).encode()
    result = folder / "-".join([name, version, *tags])
    result = result.with_name(result.name + ".whl")
    with zipfile.ZipFile(result, "w") as new:
        for path, data in contents.items():
            new.writestr(path, data)
    return result
