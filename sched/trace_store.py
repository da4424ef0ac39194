"""Where uploaded traces are kept: each file under the SHA-256 of its bytes, so that a link can name it."""

import hashlib
from pathlib import Path
from typing import Any

from sched.fields import ScenarioError

BESIDE = "out/traces"
DEFAULT = Path(__file__).parent.parent / BESIDE
"""Where the page and the command line keep traces unless SCHED_STORE names another place."""
_store = ""


def chosen_store(given: str | None) -> str:
    """The store that SCHED_STORE names, else the folder in the project that every program here shares."""
    return given or str(DEFAULT)


def named(place: str) -> str:
    """A store as it may be shown to anybody: the default by its short name, an address without its keys."""
    if place == str(DEFAULT):
        return BESIDE
    scheme, mark, rest = place.partition("://")
    return f"{scheme}{mark}{rest.partition('?')[0].rpartition('@')[2]}" if mark else place


def use_store(place: str) -> None:
    """Where traces are kept by their digest: a folder, or an address that pyarrow.fs understands."""
    global _store
    _store = place


def store_in_use() -> str:
    """Where they are kept now; a process that is to read them must be told."""
    return _store


def _filesystem(place: str) -> tuple[Any, str]:
    from pyarrow import fs

    if not place:
        raise ScenarioError("no store for traces is set; set SCHED_STORE to a folder", "trace.digest")
    try:
        if "://" in place:
            system, folder = fs.FileSystem.from_uri(place)
        else:
            system, folder = fs.LocalFileSystem(), str(Path(place).resolve())
    except (OSError, ValueError) as error:
        raise ScenarioError(f"the store {named(place)} cannot be opened: {error}", "trace.digest") from None
    return system, folder


def store(source: bytes | Path, place: str = "") -> str:
    """Keep a trace's bytes under their digest, and return it. The same bytes are kept once."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    system, folder = _filesystem(place or _store)
    try:
        system.create_dir(folder, recursive=True)
        with system.open_output_stream(f"{folder}/{digest}.part") as file:
            file.write(data)
        system.move(f"{folder}/{digest}.part", f"{folder}/{digest}")
    except OSError as error:
        raise ScenarioError(
            f"the trace cannot be stored in {named(place or _store)}: {error}", "trace.digest"
        ) from None
    return digest


def load(digest: str, place: str = "") -> bytes:
    """A stored trace's bytes. Raises ScenarioError when the digest is unknown or the bytes are damaged."""
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ScenarioError(
            f"trace.digest = {digest}: must be 64 hexadecimal digits in lower case", "trace.digest"
        )
    system, folder = _filesystem(place or _store)
    try:
        with system.open_input_stream(f"{folder}/{digest}") as file:
            data: bytes = file.read()
    except OSError:
        raise ScenarioError(
            f"trace.digest = {digest}: this trace is not in the store {named(place or _store)}; upload the "
            "file to the page again, or name the store that has it in SCHED_STORE",
            "trace.digest",
        ) from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise ScenarioError(
            f"trace.digest = {digest}: the stored trace is damaged; upload it again", "trace.digest"
        )
    return data
