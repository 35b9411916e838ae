"""Opens a page in headless Chromium and asks it questions, through the pipes
that --remote-debugging-pipe reads and writes: no package, no port. The browser
and the tab of the first call stay for the next ones, with the pipes in the
directory `browser` here: at the end, kill the group of processes that browser/pid
names. Only one call at a time.

    python3 page.py PAGE.html [--dark] [--width N] [EXPRESSION...]

Prints the value of each JavaScript expression (@FILE: that file's) as a line of
JSON; a promise is waited for. "mouse: EXPRESSION" moves the mouse to the [x, y]
of the window that it says, "key: NAME" presses a key, as in "key: Tab". The exit
code is 1 if the page asked for anything but itself, if something was written to
the console, or if a script failed."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

PARSER = argparse.ArgumentParser()
PARSER.add_argument("page")
PARSER.add_argument("--dark", action="store_true")
PARSER.add_argument("--width", type=int, default=1000)
PARSER.add_argument("expressions", nargs="*")
ARGS = PARSER.parse_intermixed_args()


HOME = pathlib.Path("browser").resolve()


def start():
    """Starts a browser, which keeps both ends of both pipes open."""
    HOME.mkdir()
    for name in ("to", "from"):
        os.mkfifo(HOME / name)
    here = [os.open(HOME / name, os.O_RDWR) for name in ("to", "from")]

    def connect():
        os.dup2(here[0], 60)
        os.dup2(here[1], 61)
        os.dup2(60, 3)
        os.dup2(61, 4)

    process = subprocess.Popen(
        [os.environ.get("CHROMIUM") or shutil.which("chromium"),
         "--headless=new", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-extensions",
         "--host-resolver-rules=MAP * ~NOTFOUND",
         f"--user-data-dir={HOME}/home", "--remote-debugging-pipe",
         "about:blank"],
        preexec_fn=connect, close_fds=False, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    (HOME / "pid").write_text(str(process.pid))
    return here


class Browser:
    """The browser and its only tab: a window for each page costs much more."""

    def __init__(self):
        ends = start() if not HOME.exists() else [
            os.open(HOME / name, os.O_RDWR) for name in ("to", "from")]
        self.to, self.out = ends[0], os.fdopen(ends[1], "rb", 0)
        # Answers to one call are never those to another one.
        self.number = os.getpid() % 20000 * 100000
        self.rest, self.session, self.events = b"", None, []

    def read(self):
        while b"\0" not in self.rest:
            self.rest += self.out.read(1 << 20)
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        if self.session and event.get("sessionId") == self.session:
            self.events.append(event)

    def wait_for(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.note(self.read())

    def close(self):
        """Leaves no part of a message, and nothing emulated, to the next call."""
        session, self.session = self.session, None
        self.ask("Target.detachFromTarget", sessionId=session)
        while self.rest:
            self.read()


def open_page(browser):
    tabs = [t["targetId"] for t in browser.ask("Target.getTargets")["targetInfos"]
            if t["type"] == "page" and t["url"].startswith(("about:", "file:"))]
    browser.session = browser.ask("Target.attachToTarget", targetId=tabs[0],
                                  flatten=True)["sessionId"]
    for domain in ("Page", "Network", "Runtime", "Log"):
        browser.ask(domain + ".enable")
    browser.ask("Emulation.setDeviceMetricsOverride", width=ARGS.width,
                height=800, deviceScaleFactor=1, mobile=False)
    browser.ask("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme",
         "value": "dark" if ARGS.dark else "light"}])
    browser.events.clear()
    browser.ask("Page.navigate", url=pathlib.Path(ARGS.page).resolve().as_uri())
    browser.wait_for("Page.loadEventFired")


def press(browser, name):
    key = {"key": name, "windowsVirtualKeyCode": {"Tab": 9}.get(name, 0)}
    text = {"text": name} if len(name) == 1 else {}
    browser.ask("Input.dispatchKeyEvent", type="keyDown", **key, **text)
    browser.ask("Input.dispatchKeyEvent", type="keyUp", **key)


def do(browser, expression):
    kind, _, rest = expression.partition(": ")
    if kind == "key":
        press(browser, rest)
    elif kind == "mouse":
        x, y = ask_page(browser, rest)
        browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    else:
        print(json.dumps(ask_page(browser, expression)))


def ask_page(browser, expression):
    answer = browser.ask("Runtime.evaluate", expression=expression,
                         returnByValue=True, awaitPromise=True)
    if "exceptionDetails" in answer:
        browser.events.append({"method": "Runtime.exceptionThrown",
                               "params": answer["exceptionDetails"]})
    return answer["result"].get("value")


def complaints(browser):
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url != pathlib.Path(ARGS.page).resolve().as_uri():
                yield "request: " + url
        elif method in ("Runtime.consoleAPICalled", "Log.entryAdded",
                        "Runtime.exceptionThrown"):
            yield method + ": " + json.dumps(params)[:400]


def main():
    browser = Browser()
    try:
        open_page(browser)
        for expression in ARGS.expressions:
            if expression.startswith("@"):
                expression = pathlib.Path(expression[1:]).read_text()
            do(browser, expression)
        found = list(complaints(browser))
    finally:
        browser.close()
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(1 if found else 0)


main()
