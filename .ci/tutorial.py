"""Applies one chapter of the book's tutorial to a crate, as a reader would: new files, lines at the places that the
page names, changes of Cargo.toml. A block that it cannot place is an error.
usage: tutorial.py PAGE CRATE
"""

import re
import sys
from pathlib import Path


def insert(text, line, before):
    """Inserts a line before the only match of a pattern."""
    places = list(re.finditer(before, text, re.MULTILINE))
    if len(places) != 1:
        sys.exit(f"{len(places)} places instead of one for: {line.strip()}")
    start = places[0].start()
    return f"{text[:start]}{line}\n{text[start:]}"


def indented(block, spaces):
    return "\n".join(" " * spaces + line for line in block.splitlines())


def add_lines(main, block):
    """Adds the modules and the plugins of a chapter. A plugin's function is named after the function that adds it."""
    for line in filter(None, block.splitlines()):
        if line.startswith("//"):
            continue
        if re.fullmatch(r"mod \w+;", line):
            last = re.findall(r"^mod \w+;$", main, re.MULTILINE)[-1]
            main = main.replace(f"{last}\n", f"{last}\n{line}\n", 1)
        elif plugin := re.fullmatch(r"app\.add_plugins\(\w+::(\w+)\);", line):
            head = f"fn {plugin[1]}(app: &mut App) {{\n"
            if main.count(head) != 1:
                sys.exit(f"no function for: {line}")
            before, body = main.split(head)
            inside, after = body.split("\n}\n", 1)
            main = f"{before}{head}{inside}\n    {line}\n}}\n{after}"
        else:
            sys.exit(f"no place for: {line}")
    return main


def apply(prose, kind, block, crate):
    """Applies a block of code below some prose. Returns whether it belongs to the crate."""
    main = crate / "src/main.rs"
    manifest = crate / "Cargo.toml"
    if kind == "toml":
        if block.startswith("[package]"):
            manifest.write_text(block)
        elif re.fullmatch(r"bevy_unlag = .*\n", block):
            text, count = re.subn(r"^bevy_unlag = .*\n", lambda _: block, manifest.read_text(), flags=re.MULTILINE)
            if count != 1:
                sys.exit("Cargo.toml has no line of bevy_unlag")
            manifest.write_text(text)
        else:
            return False
    elif new := re.search(r"\b(?:Create|Replace) `(src/\w+\.rs)`:\s*$", prose):
        (crate / new[1]).write_text(block)
    elif block.startswith("// At the top."):
        main.write_text(add_lines(main.read_text(), block))
    elif block.startswith("["):
        main.write_text(insert(main.read_text(), indented(block, 8), r"^ {8}_ => \{$"))
    elif block.startswith("eprintln!("):
        main.write_text(insert(main.read_text(), indented(block, 12), r"^ {12}return Ok\(AppExit::error\(\)\);$"))
    else:
        sys.exit(f"no place for a block that begins with: {block.splitlines()[0]}")
    return True


def main():
    page, crate = Path(sys.argv[1]), Path(sys.argv[2])
    parts = re.split(r"^```(toml|rust,ignore)\n(.*?)^```$\n", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    applied = sum(apply(*parts[i : i + 3], crate) for i in range(0, len(parts) - 1, 3))
    print(f"{page.name}: {applied} blocks of code")


main()
