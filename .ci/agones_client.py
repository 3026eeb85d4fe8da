"""Runs a client of Agones' REST interface that others have written, PyPI's agones-python-sdk, against the stand-in: its
requests are understood, and it gets the answers that it expects. Usage: agones_client.py ADDRESS"""

import json
import sys

from agones_python_sdk import ApiClient, ApiException, Configuration, SDKApi, SdkDuration, SdkGameServer, SdkKeyValue

TIMEOUT = 10.0


def expect(holds, what):
    if not holds:
        sys.exit(f"the stand-in is not as Agones' client expects: {what}")


def refused(status, request):
    try:
        request()
    except ApiException as error:
        answer = json.loads(error.body)
        expect(error.status == status and isinstance(answer["code"], int), f"status {error.status}: {error.body}")
        expect(isinstance(answer["message"], str) and answer["details"] == [], error.body)
    else:
        sys.exit("a bad request was not refused")


class Watch:
    """The stream of changes."""

    def __init__(self, api):
        response = api.watch_game_server_without_preload_content(_request_timeout=TIMEOUT)
        expect(response.status == 200, f"status {response.status} of the stream")
        self.chunks = response.stream(65_536)
        self.rest = b""

    def next(self):
        while b"\n" not in self.rest:
            self.rest += next(self.chunks)
        line, self.rest = self.rest.split(b"\n", 1)
        return SdkGameServer.from_dict(json.loads(line)["result"])

    def until(self, state):
        # Changes in quick succession may be one line.
        for _ in range(100):
            if self.next().status.state == state:
                return
        sys.exit(f"the stream does not come to the state {state}")


with ApiClient(Configuration(host=f"http://{sys.argv[1]}")) as client:
    api = SDKApi(client)
    state = lambda: api.get_game_server(_request_timeout=TIMEOUT).status.state

    first = api.get_game_server(_request_timeout=TIMEOUT)
    expect(first.object_meta.name and first.object_meta.uid and first.object_meta.labels, "the metadata")
    expect(first.spec.health.period_seconds > 0, "the health settings")
    expect(first.status.ports[0].port == 7777 and first.status.address, "the address")
    expect(first.status.counters["players"].capacity == "8", "the counter")
    expect(first.status.lists["players"].values == [], "the list")

    watch = Watch(api)
    expect(watch.next().object_meta.uid == first.object_meta.uid, "the stream begins with the game server")
    expect(api.health(body={}, _request_timeout=TIMEOUT) == {}, "the answer to a ping")
    for request, name in [(api.ready, "Ready"), (api.allocate, "Allocated")]:
        expect(request(body={}, _request_timeout=TIMEOUT) == {}, f"the answer of {name}")
        expect(state() == name, name)
        watch.until(name)
    expect("agones.dev/last-allocated" in api.get_game_server().object_meta.annotations, "the time of the allocation")
    api.reserve(body=SdkDuration(seconds="5"), _request_timeout=TIMEOUT)
    expect(state() == "Reserved", "Reserved")

    api.set_label(body=SdkKeyValue(key="map", value="docks"), _request_timeout=TIMEOUT)
    api.set_annotation(body=SdkKeyValue(key="text", value="any text: ä\n"), _request_timeout=TIMEOUT)
    metadata = api.get_game_server(_request_timeout=TIMEOUT).object_meta
    expect(metadata.labels["agones.dev/sdk-map"] == "docks", "the label")
    expect(metadata.annotations["agones.dev/sdk-text"] == "any text: ä\n", "the annotation")
    refused(400, lambda: api.set_label(body=SdkKeyValue(key="no key!", value=""), _request_timeout=TIMEOUT))
    refused(400, lambda: api.set_label(body=SdkKeyValue(key="map", value="no value!"), _request_timeout=TIMEOUT))

    api.shutdown(body={}, _request_timeout=TIMEOUT)
    watch.until("Shutdown")
print("PyPI's client of Agones gets along with the stand-in")
