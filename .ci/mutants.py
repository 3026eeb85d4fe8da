#!/usr/bin/env python3
"""Stated mutations, and a random sample of mutants of four crates, all in one build and switched on one by one.

usage: .ci/mutants run [stated] [CRATE...]    (which makes the copy of HEAD that this script changes)

cargo-mutants lists the mutants of a crate. They are sorted by name, shuffled by Python's generator with the seed SEED,
and the first VIABLE that compile are the sample. Each becomes a branch on the environment variable UNLAG_MUTANT, so
that the tests are built once. All meet the tests of their own crate first, and those that pass these, the scenarios
over netcode that touch the crate. A stated mutation meets the test that must fail. Without a mutant, the same build
must pass all of them.
"""

import functools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import tree_sitter
import tree_sitter_rust

from stated_mutants import STATED

SEED = int(os.environ.get("SEED", "20"))
VIABLE = int(os.environ.get("VIABLE", "40"))
# The tests of a mutant may take so many times as long as those without one. An endless loop counts as noticed.
PATIENCE = 5
# Drawn before it is known which compile.
CANDIDATES = 2 * VIABLE

# Some crates, "stated" for the stated mutations, or all of these.
ALL = "stated bevy_unlag_prediction bevy_unlag_smoothing bevy_unlag_rewind bevy_unlag_weapons"
NAMED = sys.argv[2:] or ALL.split()
CRATES = [name for name in NAMED if name != "stated"]
# Modules of tests/scenarios that touch a crate.
SCENARIOS = {
    "bevy_unlag_prediction": "faults possession pushes platforms predicted_values correction teleport npcs ownership "
    "former_pawn passengers karts player_controls",
    "bevy_unlag_smoothing": "smoothing snapshots platforms server_clock agreement components bases shooting_range "
    "session::late_joiner",
    "bevy_unlag_rewind": "agreement fire teams platforms gravity shooting_range heroes weapon_data",
    "bevy_unlag_weapons": "fire agreement held_weapon teams shot_messages gravity passengers heroes "
    "faults::held_trigger session::restart weapon_data",
}
# All packages: a part of the workspace would build Bevy again with other features.
TESTS = ("--release", "--workspace", "--lib", "--tests", "--keep-going", "--message-format", "json")
SWITCH = """
/// Whether a mutant is switched on.
pub fn mutant(number: u32) -> bool {
    static ON: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *ON.get_or_init(|| std::env::var("UNLAG_MUTANT").ok().and_then(|on| on.parse().ok()).unwrap_or(0)) == number
}
"""

out = Path(sys.argv[1])
tree = out / "tree"
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def build_tests():
    """Builds the tests with the settings of the gate. Returns whether it did, Cargo's messages and its text."""
    command = ["cargo", "build", "--config", str(tree / ".ci/cargo.toml"), *TESTS]
    environment = dict(os.environ, RUSTC_WORKSPACE_WRAPPER=str(tree / ".ci/rustc"))
    options = {"cwd": tree, "env": environment, "stdin": subprocess.DEVNULL, "text": True, "capture_output": True}
    ran = subprocess.run(command, **options)
    return ran.returncode == 0, [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr[-2000:]


def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(2)


def draw(crate):
    """The mutants of a crate in the order of the sample."""
    listed = ["mutants", "--list", "--json", "-p", crate, "--exclude", "*gizmos.rs", "--exclude", "rewind_view.rs"]
    result = subprocess.run(["cargo", *listed], cwd=tree, text=True, capture_output=True)
    mutants = {mutant["name"]: mutant for mutant in json.loads(result.stdout or "[]")}
    if not mutants:
        fail(f"cargo-mutants lists no mutants of {crate}: {result.stderr}")
    names = sorted(mutants)
    random.Random(SEED).shuffle(names)
    print(f"{crate}: {len(names)} mutants", flush=True)
    return [mutants[name] for name in names[:CANDIDATES]]


class Source:
    """A file with the branches of its mutants."""

    def __init__(self, path):
        self.path = tree / path
        self.text = self.path.read_bytes()
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.root = parser.parse(self.text).root_node

    def offset(self, place):
        line = self.lines[place["line"] - 1]
        # Columns count characters.
        before = self.text[line:].decode()[: place["column"] - 1]
        return line + len(before.encode())

    def stated(self, text):
        """The node with a text, which must be the only one."""
        text = text.encode()
        begin = self.text.find(text)
        node = self.root.descendant_for_byte_range(begin, begin + len(text)) if begin >= 0 else None
        if self.text.count(text) != 1 or node.text != text:
            fail(f"{self.path}: not exactly one expression or statement: {text.decode()}")
        return node

    def target(self, mutant):
        """The node that a mutant changes, or None for what this script cannot switch."""
        if mutant["genre"] == "Stated":
            return self.stated(mutant["text"])
        begin, end = (self.offset(mutant["span"][side]) for side in ("start", "end"))
        node = self.root.descendant_for_byte_range(begin, end)
        genre = mutant["genre"]
        if genre == "FnValue":
            while node is not None and node.type != "function_item":
                node = node.parent
            if node is None or any(child.type == "function_modifiers" for child in node.children):
                return None
            return node.child_by_field_name("body")
        wanted = {
            "BinaryOperator": ("binary_expression", "compound_assignment_expr"),
            "UnaryOperator": ("unary_expression",),
            "MatchArm": ("match_arm",),
            "MatchArmGuard": ("match_pattern",),
            "StructField": ("field_initializer", "shorthand_field_initializer"),
        }.get(genre, ())
        while node is not None and node.type not in wanted:
            node = node.parent
        if node is None:
            return None
        # An operator of a chain with `let` is none of an expression.
        place = {
            "BinaryOperator": node.child_by_field_name("operator"),
            "MatchArmGuard": node.child_by_field_name("condition"),
        }.get(genre, node)
        return node if place is not None and place.start_byte == begin else None

    def write(self, mutants):
        """Writes the file with branches for these mutants, and remembers where they stand."""
        at = defaultdict(list)
        for mutant in mutants:
            at[self.target(mutant).id].append(mutant)
        text = self.render(self.root, at)
        # Cargo builds again what is written.
        if text != self.path.read_text():
            self.path.write_text(text)

    def render(self, node, at):
        text = self.children(node, at)
        for mutant in at.get(node.id, []):
            text = self.branch(node, mutant, text, at)
        return text

    def children(self, node, at):
        if not node.children:
            return self.text[node.start_byte : node.end_byte].decode()
        parts, last = [], node.start_byte
        for child in node.children:
            parts += [self.text[last : child.start_byte].decode(), self.render(child, at)]
            last = child.end_byte
        return "".join(parts) + self.text[last : node.end_byte].decode()

    def branch(self, node, mutant, text, at):
        number, replacement, genre = mutant["number"], mutant["replacement"], mutant["genre"]
        on = f"bevy_unlag_core::mutant({number})"
        begin, end = f"/*<{number}>*/", f"/*</{number}>*/"
        if genre == "Stated":
            changed = f"{begin} if {on} {{ {replacement} }} else {{ {text} }} {end}"
            return changed if node.type == "expression_statement" else f"({changed})"
        if genre == "FnValue":
            return "{" + f"{begin} if {on} {{ return {replacement}; }} {end}" + text[1:]
        if genre == "BinaryOperator":
            left, right = (self.render(node.child_by_field_name(side), at) for side in ("left", "right"))
            changed = f"if {on} {{ {left} {replacement} {right} }} else {{ {text} }}"
            return f"{begin}{changed}{end}" if node.type != "binary_expression" else f"{begin}({changed}){end}"
        if genre == "UnaryOperator":
            operand = self.render(node.children[1], at)
            return f"{begin}(if {on} {{ {replacement}{operand} }} else {{ {text} }}){end}"
        if genre == "MatchArmGuard":
            pattern, guard = text.split(" if ", 1)
            return f"{pattern} if {begin} (if {on} {{ {replacement} }} else {{ {guard} }}) {end}"
        if genre == "MatchArm":
            pattern, body = text.split("=>", 1)
            pattern, _, guard = pattern.partition(" if ")
            guard = f"{begin} !{on} {end}" + (f" && ({guard})" if guard else "")
            return f"{pattern} if {guard} => {body}"
        fields = node.parent
        base = next(child for child in fields.children if child.type == "base_field_initializer")
        name = fields.parent.child_by_field_name("name").text.decode()
        field, _, value = text.partition(":")
        value = value or field
        default = f"({name} {{ {base.text.decode()} }}).{field.strip()}"
        return f"{field}: {begin} if {on} {{ {default} }} else {{ {value} }} {end}"


def errors():
    """Builds the tests. Returns whether all compile, and the places of errors as file and byte."""
    built, lines, text = build_tests()
    found = []
    for line in lines:
        message = line.get("message") or {}
        if isinstance(message, dict) and message.get("level") == "error":
            found += [(tree / span["file_name"], span["byte_start"]) for span in message["spans"]]
    if not built and not found:
        fail(f"the copy does not compile: {text}")
    return built, found


def blamed(path, at):
    """The mutants whose branches hold a place, or else the nearest before it."""
    text = path.read_bytes()
    marks = [(m.start(), m.end(), m[1]) for m in re.finditer(rb"/\*<(\d+)>\*/", text)]
    ends = {m[1]: m.end() for m in re.finditer(rb"/\*</(\d+)>\*/", text)}
    holding = [number for start, _, number in marks if start <= at <= ends[number]]
    before = [number for start, _, number in marks if start <= at]
    return {int(number) for number in (holding or before[-1:] or [mark[2] for mark in marks[:1]])}


def choose(drawn):
    """Compiles branches for the drawn mutants. Drops those that do not compile, and returns the rest by crate."""
    sources, dropped = {}, set()
    mutants = {m["number"]: m for ms in drawn.values() for m in ms}
    for mutant in mutants.values():
        source = sources.setdefault(mutant["file"], Source(mutant["file"]))
        if source.target(mutant) is None:
            dropped.add(mutant["number"])

    def write(numbers):
        for file, source in sources.items():
            source.write([mutants[n] for n in numbers if mutants[n]["file"] == file])

    core = tree / "crates/bevy_unlag_core/src/lib.rs"
    if "UNLAG_MUTANT" not in core.read_text():
        core.write_text(core.read_text() + SWITCH)
    while True:
        write([n for n in mutants if n not in dropped])
        fine, found = errors()
        if fine:
            break
        before = len(dropped)
        for path, at in found:
            if str(path.relative_to(tree)) in sources:
                dropped |= blamed(path, at)
        if len(dropped) == before:
            fail(f"the copy does not compile: {found}")
    if lost := [m["name"] for m in drawn["stated"] if m["number"] in dropped]:
        fail(f"stated mutations that do not compile: {lost}")
    kept = {crate: [m for m in ms if m["number"] not in dropped] for crate, ms in drawn.items()}
    for crate in CRATES:
        ms, kept[crate] = drawn[crate], kept[crate][:VIABLE]
        last = drawn[crate].index(kept[crate][-1]) + 1
        print(f"{crate}: {len(kept[crate])} of the first {last} compile", flush=True)
    # The others stay in the build. They are not switched on.
    return kept


def executables():
    """Builds the tests. Returns the executables with their folders, by package folder and target."""
    built, lines, text = build_tests()
    if not built:
        fail(f"the tests do not compile: {text}")
    found = defaultdict(list)
    for line in lines:
        if line.get("reason") == "compiler-artifact" and line.get("executable"):
            folder = Path(line["manifest_path"]).parent
            found[folder.name, line["target"]["name"]].append((line["executable"], folder))
    return found


class Tests:
    """Executables with their filters, which pass without a mutant."""

    def __init__(self, name, runs):
        self.runs, self.timeout, began = runs, None, time.monotonic()
        if not self.pass_with(0):
            fail(f"without a mutant, a test of {name} fails, or there is none: {out / 'last.log'}")
        seconds = time.monotonic() - began
        self.timeout = 20 + PATIENCE * seconds
        if seconds >= 5:
            print(f"{name}: its tests take {seconds:.0f} s", flush=True)

    def pass_with(self, number):
        """Runs the tests with a mutant until an executable fails. None after the timeout."""
        environment = dict(os.environ, UNLAG_MUTANT=str(number), RUSTC_BOOTSTRAP="1")
        # One thread more than cores: some tests wait for real time.
        environment.setdefault("RUST_TEST_THREADS", str((os.cpu_count() or 1) + 1))
        until = time.monotonic() + self.timeout if self.timeout else None
        with open(out / "last.log", "w+") as log:
            options = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            for executable, folder, *filters in self.runs:
                # One failing test is enough. The option is not stable yet.
                command = [executable, "--quiet", "-Zunstable-options", "--fail-fast", *filters]
                run = subprocess.Popen(command, cwd=folder, start_new_session=True, **options)
                try:
                    code = run.wait(until and max(until - time.monotonic(), 0))
                except subprocess.TimeoutExpired:
                    os.killpg(run.pid, signal.SIGKILL)
                    run.wait()
                    return None
                if code != 0:
                    return False
            log.seek(0)
            return re.search(r"running [1-9]", log.read()) is not None


def prepare():
    """Draws mutants and changes the copy. Returns those that compile, by crate, also after an interruption."""
    remembered, chosen = out / "kept.json", [SEED, VIABLE, NAMED, [list(mutation) for mutation in STATED]]
    if remembered.exists():
        before, kept = json.loads(remembered.read_text())
        if before != chosen:
            made = "was made with another SEED, VIABLE, list or crates"
            fail(f"{remembered} {made}: rm -r target/mutants && git worktree prune")
        return kept
    stated = [
        {"genre": "Stated", "file": f"crates/{file}", "text": text, "replacement": to, "tests": tests.split()}
        for file, text, to, tests in (STATED if "stated" in NAMED else [])
    ]
    for mutant in stated:
        mutant["name"] = f"{mutant['file']}: {mutant['text']} to {mutant['replacement']!r}: {mutant['tests'][-1]}"
    if unknown := set(CRATES) - set(SCENARIOS):
        fail(f"not one of {', '.join(SCENARIOS)}: {', '.join(unknown)}")
    drawn = {"stated": stated, **{crate: draw(crate) for crate in CRATES}}
    for number, mutant in enumerate((m for ms in drawn.values() for m in ms), 1):
        mutant["number"] = number
    kept = choose(drawn)
    remembered.write_text(json.dumps([chosen, kept]))
    return kept


def results(name):
    """The outcomes in a file, by mutant."""
    file = out / f"{name}.tsv"
    lines = file.read_text().splitlines() if file.exists() else []
    return {mutant: outcome for outcome, _, mutant in (line.split("\t") for line in lines)}


def run(name, mutants, tests):
    """Adds the outcomes of those mutants to a file that have none in it yet. `tests` gives those of a mutant."""
    before = results(name)
    for mutant in mutants:
        if mutant["name"] in before:
            continue
        its_tests = tests(mutant)
        began = time.monotonic()
        outcome = {None: "endless", False: "caught", True: "missed"}[its_tests.pass_with(mutant["number"])]
        line = f"{outcome}\t{time.monotonic() - began:.0f}\t{mutant['name']}"
        print(line, flush=True)
        with (out / f"{name}.tsv").open("a") as file:
            file.write(line + "\n")


def once(make):
    """The same tests for all mutants, made for the first one that has no result."""
    made = functools.cache(make)
    return lambda _: made()


def main():
    kept = prepare()
    built = executables()

    def stated(mutant):
        package, target, test = mutant["tests"]
        return Tests(test, [(*found, test) for found in built[package, target]])

    run("stated", kept["stated"], stated)
    for crate in CRATES:
        own = [found for (folder, _), all_of in built.items() if folder == crate for found in all_of]
        run(crate, kept[crate], once(partial(Tests, crate, own)))
    for crate in CRATES:
        outcomes = results(crate)
        filters = [f"{name}::" for name in SCENARIOS[crate].split()]
        scenarios = [(*found, *filters) for found in built["tests", "scenarios"]]
        missed = [mutant for mutant in kept[crate] if outcomes[mutant["name"]] == "missed"]
        run(f"{crate}.netcode", missed, once(partial(Tests, f"{crate} over netcode", scenarios)))


main()
