"""A page in headless Chromium, driven by its DevTools protocol through a pipe: no driver and no further package."""

import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
TIMEOUT = 60  # seconds
OPTIONS = (
    *("--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)


@contextlib.contextmanager
def open_page(url, profile):
    """Open a page in a browser of its own, with its profile in an empty folder."""
    from_browser, to_test = os.pipe()
    from_test, to_browser = os.pipe()
    # Chromium reads commands from descriptor 3 and writes to 4. As root, it runs without its sandbox only.
    start = f'exec "$0" "$@" 3<&{from_test} 4>&{to_test}'
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [
        "bash",
        "-c",
        start,
        CHROMIUM,
        *OPTIONS,
        *sandbox,
        f"--user-data-dir={profile}",
        "about:blank",
    ]
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    process = subprocess.Popen(command, pass_fds=(from_test, to_test), **quiet)
    os.close(from_test)
    os.close(to_test)
    try:
        with (
            open(from_browser, "rb", buffering=0) as answers,
            open(to_browser, "wb", buffering=0) as commands,
        ):
            page = Page(answers, commands)
            page.open(url)
            yield page
    finally:
        process.terminate()
        process.wait(timeout=TIMEOUT)


class Page:
    """One tab: evaluates JavaScript, and has keys, mouse and fingers."""

    def __init__(self, answers, commands):
        self.answers = answers
        self.commands = commands
        self.numbers = itertools.count(1)
        self.rest = b""
        self.errors = []
        self.session = None

    def open(self, url):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        self.send("Page.enable")
        self.send("Runtime.enable")
        self.send("Page.navigate", url=url)
        self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def send(self, method, **params):
        """Send a command and return its result."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        answer = self._until(lambda message: message.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def evaluate(self, expression):
        """Value of a JavaScript expression, as JSON has it."""
        result = self.send(
            "Runtime.evaluate", expression=f"JSON.stringify({expression})", awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return json.loads(result["result"].get("value", "null"))

    def resize(self, width, height, mobile=False):
        options = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self.send("Emulation.setDeviceMetricsOverride", **options)

    def press(self, key):
        """Press a key; what it does goes to the element that has the focus."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"ArrowUp": 38, "ArrowDown": 40, "Escape": 27, "Enter": 13}.get(key) or ord(key)
        self.send(
            "Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text
        )
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        """Replace what a focused input holds."""
        self.evaluate("document.activeElement.select()")
        self.send("Input.insertText", text=text)
        self.press("Enter")

    def drag(self, *points, finger=False, drop=True):
        """Press at the first point, move over the others, and let go."""
        for i, (x, y) in enumerate(points):
            if finger:
                kind = "touchMove" if i else "touchStart"
                self.send("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
            else:
                kind = "mouseMoved" if i else "mousePressed"
                self.send(
                    "Input.dispatchMouseEvent",
                    type=kind,
                    x=x,
                    y=y,
                    button="left",
                    buttons=1,
                    clickCount=1,
                )
        if drop and finger:
            self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        elif drop:
            self.send(
                "Input.dispatchMouseEvent",
                type="mouseReleased",
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def _until(self, wanted):
        while True:
            while b"\0" not in self.rest:
                if not select.select([self.answers], [], [], TIMEOUT)[0]:
                    raise TimeoutError(f"Chromium has not answered within {TIMEOUT} s.")
                more = self.answers.read(1 << 16)
                if not more:
                    raise RuntimeError("Chromium has ended.")
                self.rest += more
            line, self.rest = self.rest.split(b"\0", 1)
            message = json.loads(line)
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(message["params"]["exceptionDetails"])
            if wanted(message):
                return message
