#!/usr/bin/env python3
"""Small SOCKS5 server for checks: UDP ASSOCIATE with a user name and a password, on the loopback interface.

  socks5_server.py PORT USER PASSWORD

Prints "ready", then one line for each association. Source: RFC 1928, RFC 1929.
"""

import selectors
import socket
import struct
import sys
import threading


def tell(line):
    """Prints a line in one write: those of `print` by several threads mix."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def exactly(control, count):
    data = b""
    while len(data) < count:
        part = control.recv(count - len(data))
        if not part:
            raise ConnectionError("control connection ended")
        data += part
    return data


def log_in(control, user, password):
    version, count = exactly(control, 2)
    methods = exactly(control, count)
    if version != 5 or 2 not in methods:
        control.sendall(b"\x05\xff")
        raise ConnectionError("no method for a login")
    control.sendall(b"\x05\x02")
    exactly(control, 1)
    given = [exactly(control, exactly(control, 1)[0]) for _ in range(2)]
    good = given == [user, password]
    control.sendall(b"\x01" + (b"\x00" if good else b"\x01"))
    if not good:
        raise ConnectionError("login refused")


def relay(control, inside, outside):
    """Passes datagrams on until the control connection ends."""
    client = None
    ready = selectors.DefaultSelector()
    for one in (control, inside, outside):
        ready.register(one, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is control:
                if not control.recv(64):
                    return
            elif key.fileobj is inside:
                data, source = inside.recvfrom(65536)
                client = client or source
                if source == client and data[:4] == b"\x00\x00\x00\x01":
                    address = socket.inet_ntoa(data[4:8]), struct.unpack(">H", data[8:10])[0]
                    outside.sendto(data[10:], address)
            else:
                data, (host, port) = outside.recvfrom(65536)
                head = b"\x00\x00\x00\x01" + socket.inet_aton(host) + struct.pack(">H", port)
                if client:
                    inside.sendto(head + data, client)


def serve(control, user, password):
    with control:
        try:
            log_in(control, user, password)
            request = exactly(control, 10)
            if request[:4] != b"\x05\x03\x00\x01":
                control.sendall(b"\x05\x07\x00\x01" + bytes(6))
                return
            with socket.socket(type=socket.SOCK_DGRAM) as inside, socket.socket(type=socket.SOCK_DGRAM) as outside:
                inside.bind(("127.0.0.1", 0))
                outside.bind(("127.0.0.1", 0))
                # Zeros as the address: the host of the control connection.
                port = struct.pack(">H", inside.getsockname()[1])
                control.sendall(b"\x05\x00\x00\x01" + bytes(4) + port)
                tell(f"association {outside.getsockname()[1]}")
                relay(control, inside, outside)
        except OSError as error:
            tell(f"ended: {error}")


def main():
    port, user, password = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3].encode()
    listener = socket.create_server(("127.0.0.1", port))
    tell("ready")
    while True:
        control, _ = listener.accept()
        threading.Thread(target=serve, args=(control, user, password), daemon=True).start()


main()
