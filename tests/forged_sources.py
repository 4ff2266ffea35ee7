#!/usr/bin/env python3
"""Attacks with forged sources and whole IPv6 networks over real sockets, with honest clients beside them.

  forged_sources.py SCENARIO PORT...

Runs in a network namespace in which 198.18.0.0/15 and 2001:db8::/32 are local; see attacks.sh. Each scenario prints lines
of figures: `NAME served ASKED`.
"""

import itertools
import os
import random
import socket
import sys
import threading
import time

MARK = b"\xff\xff\xff\xff"
FREE_BIND = {socket.AF_INET: (socket.IPPROTO_IP, 15), socket.AF_INET6: (socket.IPPROTO_IPV6, 78)}
random.seed(1)


def family(ip):
    return socket.AF_INET6 if ":" in ip else socket.AF_INET


def open_socket(ip, port=0, kind=socket.SOCK_DGRAM, timeout=0.5):
    """A socket with that source address."""
    sock = socket.socket(family(ip), kind)
    sock.setsockopt(*FREE_BIND[family(ip)], 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.settimeout(timeout)
    sock.bind((ip, port))
    return sock


def ask(sock, to, text, timeout=0.5):
    """The first answer to a connectionless packet; None without one."""
    sock.sendto(MARK + text.encode(), to)
    sock.settimeout(timeout)
    try:
        return sock.recv(65536)
    except OSError:
        return None


numbers = itertools.count()


def anyone():
    """A source that was not used before."""
    number = next(numbers) * 40503 % 65536
    return f"198.18.{number >> 8}.{number & 255}", random.randrange(1024, 65000)


class Flood(threading.Thread):
    """Datagrams at a rate until it is stopped, each from a socket of its own."""

    def __init__(self, per_second, to, text, source=anyone):
        super().__init__(daemon=True)
        self.per_second, self.to, self.text, self.source = per_second, to, text, source
        self.sent, self.is_over = 0, False

    def run(self):
        begun = time.monotonic()
        while not self.is_over:
            while self.sent < (time.monotonic() - begun) * self.per_second:
                try:
                    with open_socket(*self.source()) as sock:
                        sock.sendto(MARK + self.text.encode(), self.to)
                except OSError:
                    pass
                self.sent += 1
            time.sleep(0.002)

    def stop(self):
        self.is_over = True
        self.join()


def clients(count, to, text, hosts, pause=1.6):
    """Clients that ask at most twice. Returns how many were served at once, and with one retry."""
    first = second = 0
    waiting = []
    for number in range(count + 3):
        begun = time.monotonic()
        if number < count:
            # Scenarios run at once, and each has ports of its own.
            sock = open_socket(hosts % (number + 1), to[1] + 1000)
            if ask(sock, to, text):
                first += 1
            else:
                waiting.append((begun, sock))
        while waiting and begun - waiting[0][0] >= pause:
            _, sock = waiting.pop(0)
            second += bool(ask(sock, to, text))
        time.sleep(max(0, 0.8 - (time.monotonic() - begun)))
    return first, first + second


def report(name, served, asked):
    print(f"{name} {served} {asked}", flush=True)


def register(sources, to):
    """Lists servers, and returns how many were challenged."""
    socks = [open_socket(*source) for source in sources]
    for sock in socks:
        sock.sendto(MARK + b"heartbeat QuakeArena-1\n", to)
    challenged = 0
    end = time.monotonic() + 0.4
    for sock in socks:
        sock.settimeout(max(0.001, end - time.monotonic()))
        try:
            challenge = sock.recv(2048)[len(MARK + b"getinfo "):]
        except OSError:
            continue
        challenged += 1
        info = b"infoResponse\n\\protocol\\68\\clients\\2\\sv_maxclients\\8\\hostname\\A\\mapname\\x\\challenge\\"
        sock.sendto(MARK + info + challenge, to)
    for sock in socks:
        sock.close()
    return challenged


def listed(to, http):
    """Servers on the master's list."""
    with socket.create_connection(http, timeout=5) as page:
        page.sendall(b"GET /servers.json HTTP/1.1\r\nHost: x\r\n\r\n")
        text = b""
        while True:
            part = page.recv(65536)
            if not part:
                return text.count(b'"address"')
            text += part


def retries(name, to, text, per_second, lead):
    """Forged requests, and clients that ask at most twice beside them."""
    flood = Flood(per_second, to, text)
    flood.start()
    time.sleep(lead)
    first, both = clients(10, to, text, "198.19.7.%d")
    flood.stop()
    report(f"{name}_first", first, 10)
    report(f"{name}_with_one_retry", both, 10)


def lists(port):
    """List requests of forged sources."""
    to = ("198.18.0.1", port)
    for host in range(1, 65):
        register([(f"198.19.0.{host}", 20000 + number) for number in range(32)], to)
    retries("lists", to, "getservers 68 empty full", 300, 4)


def networks(port, http):
    """Servers of one IPv6 line on a list of 512."""
    to = ("2001:db8:ffff::1", port)
    for subnet in range(32):
        register([(f"2001:db8:5:{subnet:x}::1", 20000 + number) for number in range(32)], to)
    report("line_of_512_places", listed(to, ("127.0.0.1", http)), 512)
    challenged = register([(f"198.19.9.{host}", 27960) for host in range(1, 21)], ("198.18.0.1", port))
    report("honest_servers_challenged", challenged, 20)


def heartbeats(port):
    """Heartbeats from other ports of a listed server's address."""
    to, own = ("198.18.0.1", port), ("198.19.1.1", 27960)
    register([own], to)
    flood = Flood(1000, to, "heartbeat QuakeArena-1\n", lambda: (own[0], random.randrange(1024, 60000)))
    flood.start()
    time.sleep(2.1)
    challenged = 0
    for _ in range(6):
        challenged += register([own], to)
        time.sleep(2.1)
    flood.stop()
    report("heartbeats_challenged", challenged, 6)


def challenges(port, name, per_second):
    """Challenge requests of forged sources, to a proxy or to a server with an authorization service."""
    retries(name, ("198.18.0.1", port), "getchallenge 5 Quake3Arena", per_second, 3)


def proxy(port):
    challenges(port, "proxy", 400)


def authorization(port, service):
    """A service that accepts everybody."""
    def serve(sock):
        while True:
            try:
                question, source = sock.recvfrom(2048)
            except OSError:
                continue
            number = question.split()[1].decode()
            sock.sendto(MARK + f"ipAuthorize {number} accept".encode(), source)
    threading.Thread(target=serve, args=[open_socket("198.19.200.1", service)], daemon=True).start()
    challenges(port, "authorized", 300)


def queries(port):
    """Status queries of forged sources."""
    retries("queries", ("198.18.0.1", port), "getstatus x", 300, 5)


def idle(to, count, subnets, seconds):
    """Idle TCP connections from addresses of one IPv6 line."""
    socks, begun = [], time.monotonic()
    for number in range(count):
        sock = open_socket(f"2001:db8:2:{number % subnets:x}::{number + 2:x}", 0, socket.SOCK_STREAM)
        try:
            sock.connect(to)
            socks.append(sock)
        except OSError:
            pass
        time.sleep(max(0, seconds * (number + 1) / count - (time.monotonic() - begun)))
    return socks


def downloads(port, size):
    """A download beside idle connections of another network."""
    to = ("2001:db8:ffff::1", port)
    download = open_socket("2001:db8:1::1", 0, socket.SOCK_STREAM, 5)
    download.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    download.connect(to)
    download.sendall(b"GET /checked/big.pk3 HTTP/1.1\r\nHost: x\r\n\r\n")
    got = len(download.recv(65536))
    held = idle(to, 300, 1, 2) + idle(to, 300, 200, 2)
    while True:
        try:
            part = download.recv(1 << 20)
        except OSError:
            break
        if not part:
            break
        got += len(part)
    report("download_megabytes", got >> 20, size >> 20)
    alive = 0
    for sock in held:
        sock.settimeout(0.001)
        try:
            alive += bool(sock.recv(1))
        except socket.timeout:
            alive += 1
        except OSError:
            pass
    report("idle_connections_held", alive, 128)


def pages(port):
    """A slow monitor beside idle connections."""
    to, served = ("2001:db8:ffff::1", port), 0
    attack = threading.Thread(target=idle, args=[to, 1500, 1, 7], daemon=True)
    attack.start()
    for number in range(10):
        with open_socket(f"2001:db8:1:{number}::1", 0, socket.SOCK_STREAM, 2) as monitor:
            try:
                monitor.connect(to)
                time.sleep(0.3)
                monitor.sendall(b"GET /servers.json HTTP/1.1\r\nHost: x\r\n\r\n")
                served += monitor.recv(100).startswith(b"HTTP/1.1 200")
            except OSError:
                pass
        time.sleep(0.3)
    report("pages_served", served, 10)


def logins(port):
    """Silent connections to the live stream of eight hosts."""
    to, joined, is_over = ("198.18.0.1", port), 0, threading.Event()

    def hold(host):
        held = []
        while not is_over.is_set():
            sock = open_socket(f"198.18.{host}.9", 0, socket.SOCK_STREAM)
            try:
                sock.connect(to)
                held.append(sock)
            except OSError:
                pass
            del held[:-40]
            time.sleep(0.4)

    for host in range(1, 9):
        threading.Thread(target=hold, args=[host], daemon=True).start()
    time.sleep(3)
    for number in range(8):
        with open_socket(f"198.19.7.{number + 1}", 0, socket.SOCK_STREAM, 2) as relay:
            try:
                relay.connect(to)
                is_greeted = b"FRAGDLIV" in relay.recv(100)
                relay.settimeout(0.5)
                try:
                    is_greeted &= relay.recv(1) != b""
                except socket.timeout:
                    pass
                joined += is_greeted
            except OSError:
                pass
        time.sleep(0.2)
    is_over.set()
    report("logins_kept", joined, 8)


class Tree:
    """Adaptive Huffman tree of `connect`: nodes by rank, the escape last."""

    def __init__(self):
        self.escape = [0, None, None, None]  # weight, parent, children, byte
        self.order, self.leafs = [self.escape], {}

    def code(self, node):
        bits = []
        while node[1]:
            bits.append(int(node[1][2][1] is node))
            node = node[1]
        return bits[::-1]

    def add(self, byte):
        node = self.leafs.get(byte)
        if node is None:
            parent = self.escape[1]
            inner = [1, parent, None, None]
            leaf = [1, inner, None, byte]
            inner[2] = [self.escape, leaf]
            if parent:
                parent[2][int(parent[2][1] is self.escape)] = inner
            self.escape[1] = inner
            self.order[-1:] = [inner, leaf, self.escape]
            self.leafs[byte] = leaf
            node = parent
        while node:
            leader = next(one for one in self.order if one[0] == node[0])
            if leader is node[1]:
                # Parent and sibling of the escape have one weight.
                leader[0] += 1
                node[0] += 1
                node = leader[1]
                continue
            if leader is not node:
                self.exchange(node, leader)
            node[0] += 1
            node = node[1]

    def exchange(self, a, b):
        places = [(one[1], int(one[1][2][1] is one)) for one in (a, b)]
        ranks = [next(at for at, one in enumerate(self.order) if one is other) for other in (a, b)]
        for (parent, side), rank, one in zip(places, ranks, (b, a)):
            parent[2][side], self.order[rank] = one, one
        a[1], b[1] = b[1], a[1]


def connect(sock, to, qport):
    """The answer to a `connect` with a challenge."""
    challenge = ask(sock, to, "getchallenge 5 Quake3Arena")
    if not challenge:
        return b""
    number = challenge[len(MARK):].split()[1].decode()
    text = f'"\\challenge\\{number}\\qport\\{qport}\\protocol\\71\\name\\x\\rate\\25000"'.encode()
    tree, bits = Tree(), []
    for byte in text:
        known = byte in tree.leafs
        bits += tree.code(tree.leafs[byte] if known else tree.escape)
        if not known:
            bits += [byte >> at & 1 for at in range(7, -1, -1)]
        tree.add(byte)
    packed = bytearray(len(bits) // 8 + 1)
    for at, bit in enumerate(bits):
        packed[at // 8] |= bit << at % 8
    sock.sendto(MARK + b"connect " + len(text).to_bytes(2, "big") + packed, to)
    try:
        return sock.recv(2048)
    except OSError:
        return b""


def middlemen(*ports):
    """Clients of two proxies beside a server with default settings: of one host, and of eight."""
    joined = answers = 0
    for at, port in enumerate(ports):
        to = ("198.18.0.1", port)

        def slots(hosts, first):
            socks = [open_socket(host, first + number) for number, host in enumerate(hosts)]
            accepted = sum(b"connectResponse" in connect(sock, to, first + at * 100 + n) for n, sock in enumerate(socks))
            for sock in socks:
                answers_of.append(b"map: " in (ask(sock, to, "rcon look-but-do-not-touch status") or b""))
            return accepted

        answers_of = []
        report(f"slots_of_a_host_{port}", slots([f"198.19.{30 + at}.1"] * 8, 3000), 8)
        joined += slots([f"198.19.{40 + at * 10 + n}.1" for n in range(4)], 4000)
        answers += sum(answers_of)
    report("slots_of_other_hosts", joined, 8)
    report("rcon_answers", answers, 24)


def viewers(port):
    """Viewers of one IPv6 line on a relay with 24 places, and five others."""
    to, entered = ("2001:db8:ffff::1", port), 0
    for number in range(40):
        with open_socket(f"2001:db8:5:{number % 16:x}::1", 3000 + number) as sock:
            connect(sock, to, 100 + number)
    for number in range(5):
        with open_socket(f"2001:db8:{number + 20:x}::1", 27960) as sock:
            entered += b"connectResponse" in connect(sock, to, 500 + number)
    report("viewers_let_in", entered, 5)


if __name__ == "__main__":
    globals()[sys.argv[1]](*map(int, sys.argv[2:]))
    sys.stdout.flush()
    os._exit(0)
