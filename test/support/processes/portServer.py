"""A server for tests, with nothing beyond the standard library: HTTP, and an echo over WebSocket at /socket."""
import base64, hashlib, json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, headers=()):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/socket":
            return self.echo_frames()
        if self.path == "/cookies":
            return self.answer(b"", [("Set-Cookie", "a=1; Domain=localhost; Path=/"), ("Set-Cookie", "b=2")])
        if self.path == "/kept":
            return self.answer(b"", [("Cache-Control", "max-age=60")])
        if self.path == "/stream":
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            self.rfile.read(1)  # until the client leaves
            return None
        if self.path == "/quit":
            return self.connection.close()
        seen = {"name": sys.argv[2], "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}}
        return self.answer(json.dumps(seen).encode())

    def do_POST(self):
        body = bytearray()
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body += self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(bytes(body), [("X-Hash", hashlib.sha256(body).hexdigest())])

    def echo_frames(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while head := self.rfile.read(2):
            length, prefix = head[1] & 127, b""
            if length == 126:
                prefix = self.rfile.read(2)
            elif length == 127:
                prefix = self.rfile.read(8)
            size = int.from_bytes(prefix, "big") if prefix else length
            mask = self.rfile.read(4)
            whole = (mask * (size // 4 + 1))[:size]
            data = int.from_bytes(self.rfile.read(size), "big") ^ int.from_bytes(whole, "big")
            self.wfile.write(bytes([head[0], length]) + prefix + data.to_bytes(size, "big"))
            if head[0] & 15 == 8:
                return


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
