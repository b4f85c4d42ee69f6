"""A server for tests that answers as no honest one does. Arguments: port. Nothing beyond the standard library."""
import socket, sys, threading

open_connections = set()
lock = threading.Lock()


def wait_for_end(connection):
    while connection.recv(65536):
        pass


def answer(connection, path, request):
    if path == "/never":
        return wait_for_end(connection)
    if path == "/switches":
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello")
        return wait_for_end(connection)
    if path == "/slow":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh")
        return wait_for_end(connection)
    if path.startswith("/status/"):
        connection.sendall(b"HTTP/1.1 %s Rude\r\nContent-Length: 0\r\n\r\n" % path[8:].encode())
        return None
    body = request
    if path == "/count":
        with lock:
            body = str(len(open_connections) - 1).encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return None


def serve(connection):
    try:
        request = b""
        while b"\r\n\r\n" not in request:
            piece = connection.recv(65536)
            if not piece:
                return
            request += piece
        answer(connection, request.split(b" ")[1].decode(), request)
    except OSError:
        pass
    finally:
        with lock:
            open_connections.discard(connection)
        connection.close()


server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", int(sys.argv[1])))
server.listen(512)
while True:
    accepted = server.accept()[0]
    with lock:
        open_connections.add(accepted)
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
