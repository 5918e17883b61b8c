"""A server of push messages on the loopback device: a process of its own, which can be killed.

It writes down each message before it answers, so that a message which it has taken is never lost.
"""

import http.server
import json
import pathlib
import subprocess
import sys

from end_to_end import wait_until
from servers import free_port, is_listening


class PushServer:
    """Keeps the posts; the first `refusals` posts are refused."""

    def __init__(self, test, name="push", refusals=0):
        self._port, self._file, self._refusals = free_port(), pathlib.Path(test.path(f"{name}.posts")), refusals
        self.url = f"http://127.0.0.1:{self._port}/cats"
        self._process = None
        test.addCleanup(self.kill)
        self.start()

    def start(self):
        """Starts the server if it does not run."""
        if self._process is None:
            self._process = subprocess.Popen([sys.executable, __file__, str(self._port), self._file, str(self._refusals)])
            wait_until(lambda: is_listening(self._port), 10, "the push server listens")

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def posts(self):
        """The headers and the text of each post that was taken."""
        if not self._file.exists():
            return []
        # The last line may be half written.
        return [tuple(json.loads(line)) for line in self._file.read_text("utf-8").split("\n")[:-1]]


def serve(port, path, refusals):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            nonlocal refusals
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if refusals:
                refusals -= 1
                return self.send_error(503)
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps([dict(self.headers), body.decode()]) + "\n")
            self.send_response(200)
            self.end_headers()
            return None

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
