#!/usr/bin/env python3
"""Checks deploy/Containerfile with BuildKit's own parser, and that it does not notice mistakes by chance.

usage: .ci/containerfile.py FILE    (needs PyPI's package `dockerfile`)
"""

import sys

import dockerfile

# The instructions of the file, of those that BuildKit knows; its parser lets others pass.
KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"}


def mistakes(text):
    """What is wrong with a file."""
    try:
        commands = dockerfile.parse_string(text)
    except dockerfile.GoParseError as error:
        return [f"BuildKit cannot read it: {error}"]
    found = [f"unknown instruction {c.cmd}" for c in commands if c.cmd.upper() not in KNOWN]
    stages, image = set(), []
    for command in commands:
        if command.cmd.upper() == "FROM":
            image = [command]
            stages |= {command.value[2]} if len(command.value) == 3 else set()
            continue
        image.append(command)
        for flag in command.flags:
            if flag.startswith("--from") and flag.removeprefix("--from=") not in stages:
                found.append(f"no stage for {flag}")
    # The image is the last stage.
    if not image or "distroless" not in image[0].value[0] or not image[0].value[0].endswith(":nonroot"):
        found.append("the image is not one without a shell and without root")
    has = {command.cmd.upper(): command for command in image}
    if "RUN" in has:
        found.append("the image has no shell to run something")
    for name in ("COPY", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"):
        if name not in has:
            found.append(f"the image has no {name}")
    if "ENTRYPOINT" in has and not has["ENTRYPOINT"].json:
        found.append("without a shell, ENTRYPOINT needs the form of a list")
    if "EXPOSE" in has and not has["EXPOSE"].value[0].endswith("/udp"):
        found.append("the port is none of UDP")
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    if found := mistakes(text):
        sys.exit("\n".join(found))
    wrong = {
        'ENTRYPOINT ["/usr/local/bin/server"]': "ENTRYPOINT /usr/local/bin/server",
        "COPY --from=build": "COPY --from=builder",
        "5000/udp": "5000",
        "STOPSIGNAL": "STOPSIGNALS",
        "RUN --mount": "RUN <<EOF --mount",
        ":nonroot": ":debug",
    }
    for part, mistake in wrong.items():
        if text.count(part) < 1 or not mistakes(text.replace(part, mistake)):
            sys.exit(f"the check does not see {mistake} in place of {part}")
    print("the Containerfile is valid")


main()
