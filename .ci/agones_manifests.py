"""Checks the manifests of deploy/agones with their schema. Needs PyYAML and jsonschema.

Usage: agones_manifests.py FOLDER
"""

import copy
import json
import pathlib
import sys

import jsonschema
import yaml

folder = pathlib.Path(sys.argv[1])
schema = json.loads((folder / "schema.json").read_text())
jsonschema.Draft7Validator.check_schema(schema)
kinds = {"fleet": "fleet.yaml", "autoscaler": "autoscaler.yaml"}
documents = {kind: yaml.safe_load((folder / name).read_text()) for kind, name in kinds.items()}


def problems(kind, document):
    validator = jsonschema.Draft7Validator({**schema, "oneOf": [{"$ref": f"#/definitions/{kind}"}]})
    found = [*validator.iter_errors(document)]
    # The only branch of oneOf is what matters.
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for error in found for e in error.context or [error]]


failed = False
for kind, document in documents.items():
    for problem in problems(kind, document):
        print(f"{kinds[kind]}: {problem}", file=sys.stderr)
        failed = True

# What a schema cannot see: names that must be the same, and the variable of a container's arguments.
fleet, autoscaler = documents["fleet"], documents["autoscaler"]
game_server = fleet["spec"]["template"]["spec"]
pod = game_server["template"]["spec"]
volumes = {volume["name"] for volume in pod["volumes"]}
containers = pod["containers"] + pod["initContainers"]
checks = {
    "the autoscaler scales the fleet": autoscaler["spec"]["fleetName"] == fleet["metadata"]["name"],
    "the game server's container exists": game_server["container"] in [c["name"] for c in pod["containers"]],
    "all containers have the same image": len({c["image"] for c in containers}) == 1,
    "all mounted volumes exist": all(m["name"] in volumes for c in containers for m in c["volumeMounts"]),
    "the server listens on its port": f"--port={game_server['ports'][0]['containerPort']}" in pod["containers"][0]["args"],
    "the server never sees the fleet's key": all(m["name"] != "fleet-key" for m in pod["containers"][0]["volumeMounts"]),
}
for check, holds in checks.items():
    if not holds:
        print(f"deploy/agones: this does not hold: {check}", file=sys.stderr)
        failed = True

# The control: mistakes are seen.
broken = copy.deepcopy(documents)
broken["fleet"]["spec"]["template"]["spec"]["healthh"] = {}
broken["autoscaler"]["spec"]["policy"]["buffer"]["maxReplicas"] = "many"
for kind, document in broken.items():
    if not problems(kind, document):
        print(f"the schema does not see a mistake in {kinds[kind]}", file=sys.stderr)
        failed = True

if failed:
    sys.exit(1)
print(f"{len(documents)} manifests are valid")
