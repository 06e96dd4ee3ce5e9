#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a file as a C array: embed.py INPUT OUTPUT NAME."""
import sys


def main():
    source, target, name = sys.argv[1:]
    with open(source, "rb") as f:
        data = f.read()
    with open(target, "w") as f:
        f.write(f"extern const char {name}[];\nconst char {name}[] = {{")
        f.write(",".join(str(byte if byte < 128 else byte - 256) for byte in data))
        f.write(",0};\n")


if __name__ == "__main__":
    main()
