"""Headless Chromium, driven over the pipe of its DevTools protocol. Needs Python's standard library only."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

# WebGL 2 without a graphics card: a small window with half of the pixels each way, because two cores draw it.
FLAGS = [
    "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--remote-debugging-pipe", "--no-first-run", "--disable-extensions", "--disable-background-networking",
    "--window-size=480,360", "--force-device-scale-factor=0.5", "--mute-audio",
]


def pipe():
    """Creates a pipe whose file descriptors are none of those that the browser needs."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved


class BrowserError(Exception):
    """The browser has refused a command, or does not answer."""


class Browser:
    """A browser with a profile of its own. Use it in a `with` statement."""

    def __init__(self, program="chromium", flags=()):
        self.profile = tempfile.mkdtemp()
        commands, self.commands = pipe()
        self.answers, answers = pipe()
        # It reads file descriptor 3 and writes 4.
        redirected = f'exec "$@" 3<&{commands} 4>&{answers} {commands}<&- {answers}>&-'
        arguments = [program, *FLAGS, *flags, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", redirected, "browser", *arguments],
            pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self.last_id = 0
        self.results = {}
        self.tabs = {}
        self.arrived = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, patience=60.0, **parameters):
        """Sends a command, and returns its result."""
        with self.arrived:
            self.last_id += 1
            id = self.last_id
        message = {"id": id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        with self.arrived:
            if not self.arrived.wait_for(lambda: id in self.results, patience):
                raise BrowserError(f"{method}: no answer within {patience:.0f} s")
            answer = self.results.pop(id)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer.get("result", {})

    def open(self, url, before=""):
        """Opens a page in a new tab. `before` is a script that runs before those of the page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        self.tabs[session] = tab
        for domain in ("Runtime", "Log", "Page"):
            tab.call(f"{domain}.enable")
        if before:
            tab.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        tab.go(url)
        return tab

    def _read(self):
        buffer = b""
        while chunk := os.read(self.answers, 1 << 16):
            *messages, buffer = (buffer + chunk).split(b"\0")
            for message in map(json.loads, messages):
                with self.arrived:
                    if "id" in message:
                        self.results[message["id"]] = message
                    elif tab := self.tabs.get(message.get("sessionId")):
                        tab.note(message["method"], message["params"])
                    self.arrived.notify_all()


class Tab:
    """A tab, with the lines of its console."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session
        self.console = []

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def note(self, event, data):
        """Keeps what the console shows."""
        if event == "Runtime.consoleAPICalled":
            words = [str(part.get("value", part.get("description", ""))) for part in data["args"]]
            # Colours of Bevy's log.
            line = " ".join(word for word in words if not word.startswith(("color:", "background:")))
            self.console.append(f"{data['type']}: {line.replace('%c', '')}")
        elif event == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            text = details.get("exception", {}).get("description", "")
            self.console.append(f"exception: {details.get('text', '')} {text}")
        elif event == "Log.entryAdded":
            self.console.append(f"{data['entry']['level']}: {data['entry']['text']}")

    def go(self, url):
        self.call("Page.navigate", url=url)

    def reload(self):
        self.call("Page.reload")

    def activate(self):
        """Brings the tab to the front; the one that was there is in the background then."""
        self.browser.call("Target.activateTarget", targetId=self.target)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.tabs.pop(self.session, None)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{script}: {result['exceptionDetails'].get('text')}")
        return result["result"].get("value")

    def click_on(self, selector):
        """Clicks into the middle of an element."""
        place = self.evaluate(
            f"(box => [box.x + box.width / 2, box.y + box.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
            # A frame takes a while without a graphics card.
            time.sleep(0.5)

    def wait_for(self, script, patience):
        """Evaluates a script until its value is true, and returns that; otherwise the last value, after `patience`."""
        until = time.monotonic() + patience
        while True:
            try:
                value = self.evaluate(script)
            except BrowserError:
                # Between two pages.
                value = None
            if value or time.monotonic() >= until:
                return value
            time.sleep(0.2)

    def screenshot(self, file):
        picture = self.call("Page.captureScreenshot", format="png")
        with open(file, "wb") as out:
            out.write(base64.b64decode(picture["data"]))
