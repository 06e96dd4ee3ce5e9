#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a file as a C array: embed.py INPUT OUTPUT NAME [PLACE=FILE...]. Replaces each @PLACE@ in it by the text of FILE."""
import sys


def main():
    source, target, name, *parts = sys.argv[1:]
    with open(source, "rb") as f:
        data = f.read()
    for part in parts:
        place, path = part.split("=", 1)
        mark = f"@{place}@".encode()
        with open(path, "rb") as f:
            text = f.read()
        if data.count(mark) != 1:
            sys.exit(f"{source}: {mark.decode()} occurs {data.count(mark)} times instead of once")
        data = data.replace(mark, text)
    with open(target, "w") as f:
        f.write(f"extern const char {name}[];\nconst char {name}[] = {{")
        f.write(",".join(str(byte if byte < 128 else byte - 256) for byte in data))
        f.write(",0};\n")


if __name__ == "__main__":
    main()
