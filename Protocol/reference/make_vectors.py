#!/usr/bin/env python3
"""Writes all test vectors to Protocol/vectors (or the folder given)."""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import access_vectors  # noqa: E402
import exchange_vectors  # noqa: E402
import invalid_vectors  # noqa: E402
import sealed_vectors  # noqa: E402
import session_vectors  # noqa: E402
import valid_vectors  # noqa: E402


def write(folder, vectors):
    """Write one file per vector. Files of vectors that no longer exist are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json"):
        if path.stem not in vectors:
            path.unlink()
    for name, vector in vectors.items():
        text = json.dumps(vector, indent=2, sort_keys=True)
        (folder / f"{name}.json").write_text(text + "\n", "utf-8")
    print(f"{len(vectors)} vectors in {folder}")


def main():
    """Make valid and invalid vectors, sessions, sealed frames, exchanges of keys, and cases of channel access."""
    default = Path(__file__).resolve().parent.parent / "vectors"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    write(folder / "valid", valid_vectors.all_vectors())
    write(folder / "invalid", invalid_vectors.all_vectors())
    write(folder / "session", session_vectors.all_vectors())
    write(folder / "sealed", sealed_vectors.all_vectors())
    write(folder / "exchange", exchange_vectors.all_vectors())
    write(folder / "access", access_vectors.all_vectors())


if __name__ == "__main__":
    main()
