#!/usr/bin/env python3
"""Fills corpus/ with first inputs for the fuzz targets, made of the reference vectors and of what the
package itself brings. Run in any folder; what is there stays."""

import csv
import io
import pathlib
import re
import struct
import zipfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "tests" / "vectors"
csv.field_size_limit(1 << 24)


def rows(name):
    with open(VECTORS / name, newline="") as file:
        return list(csv.DictReader(file))


def seed(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def piece(data):
    return struct.pack("<H", len(data)) + data


def from_sessions():
    for name, wire in (("session_legacy.csv", 0), ("session_native.csv", 2)):
        taken = {"c2s": [], "s2c": []}
        for row in rows(name):
            datagram = bytes.fromhex(row["datagram_hex"])
            if not datagram.startswith(b"\xff\xff\xff\xff"):
                taken[row["direction"]].append(datagram)
        for number in range(0, 40, 8):
            some = taken["c2s"][number : number + 8]
            body = b"".join(piece(b"\x31" + datagram[6:]) for datagram in some)
            seed("server_messages", f"{name}-{number}", bytes([wire]) + body)
            seed("server_messages", f"relay-{name}-{number}", bytes([wire | 8]) + body)
            some = taken["s2c"][number : number + 8]
            body = b"".join(piece(b"\x31" + datagram[4:]) for datagram in some)
            seed("client_messages", f"{name}-{number}", bytes([wire]) + body)
        # The start of the session as it was, in both directions.
        start = []
        for row in rows(name)[:40]:
            choice = 0x00 if row["direction"] == "c2s" else 0x05
            start.append(piece(bytes([choice]) + bytes.fromhex(row["datagram_hex"])))
        seed("proxy", name, bytes([wire]) + b"".join(start))


def from_quakeworld():
    """Recorded sessions of real programs, from their start and from the game."""
    sessions, both = {}, {}
    for row in rows("quakeworld_session.csv"):
        data = bytes.fromhex(row["hex"])
        side = row["sender"] == "server"
        if data.startswith(b"\xff\xff\xff\xff"):
            traced = bytes([side]) + data[4:]
        else:
            traced = bytes([0x10 | side | 6]) + data
        both.setdefault(row["session"], []).append(piece(traced))
        taken = sessions.setdefault(row["session"], {"client": [], "server": []})
        if data.startswith(b"\xff\xff\xff\xff"):
            taken[row["sender"]].append(b"\1" + data[4:])
        else:
            taken[row["sender"]].append(b"\x33" + data[10 if row["sender"] == "client" else 8 :])
    for name, taken in sessions.items():
        for start in (0, 20, 60):
            for choice in (b"\0", b"\1"):
                body = choice + b"".join(piece(data) for data in taken["client"][start : start + 24])
                seed("quakeworld_client_messages", f"{name}-{start}-{choice[0]}", body)
                body = choice + b"".join(piece(data) for data in taken["server"][start : start + 24])
                seed("quakeworld_server_messages", f"{name}-{start}-{choice[0]}", body)
        for start in (0, 40, 200):
            for choice in (b"\0", b"\1"):
                body = choice + b"".join(both[name][start : start + 48])
                seed("quakeworld_traces", f"{name}-{start}-{choice[0]}", body)
        packets = [b"\x0b" + data[1:] for data in taken["client"][40:64] if data[0] == 0x33]
        seed("quakeworld_server", name, b"\0" + b"".join(piece(data) for data in packets))
    commands = [b"kill", b"say hello", b"observe", b"join", b"ptrack 0", b"pings", b"pause", b"download maps/fragqw1.bsp"]
    lines = [b"status", b"pause", b"map fragqw1", b"kick 1", b"fraglimit 1", b"addip 10.0.0.1", b"nextmap"]
    moves = b"".join(piece(b"\x2d" + bytes([20, 0, 0, n, n, 0, 0, 144, 1, 0, 0, 0, 0, 2, 0] * 3)) for n in range(20))
    seed("quakeworld_server", "commands", b"\0" + b"".join(piece(b"\x54" + line) for line in commands) + moves)
    seed("quakeworld_server", "console", b"\1" + b"".join(piece(b"\x56" + line) for line in lines) + moves)


def from_packets():
    for row in rows("discovery_vectors.csv"):
        packet = bytes.fromhex(row["hex"])
        seed("discovery_packets", row["name"], piece(packet))
        seed("discovery_decoys", row["name"], packet)
        # Raw, and the body of a list or answer behind a start with the right challenge.
        seed("discovery_browser", row["name"], piece(b"\x80" + packet) + piece(b"\x00" + packet[22:]))
        # Twice: once as it is, once behind a heartbeat and a valid response.
        seed("master", row["name"], piece(b"\1" + packet))
        heartbeat = b"\xff\xff\xff\xffheartbeat QuakeArena-1\n"
        info = b"\\protocol\\68\\clients\\2\\sv_maxclients\\8"
        listed = piece(b"\1" + heartbeat) + piece(b"\x81" + info)
        seed("master", row["name"] + "-listed", listed + piece(b"\x22" + packet))
        if packet.startswith(b"\xff\xff\xff\xff"):
            seed("connectionless", row["name"], piece(packet[4:]))
    seed("discovery_decoys", "file", b'[[server]]\ngame = "et"\nname = "a"\nplayers = [{ name = "b" }]\n')
    for number, line in enumerate(
        ["getstatus x", "getinfo x", "getchallenge 5 Quake3Arena", "rcon fuzzed status", "disconnect"]
    ):
        seed("connectionless", f"line{number}", piece(line.encode()))
    told = piece(b"\xe0\0\x88\\mapname\\fuzzed") + piece(b"\xe0\4\2" + bytes(range(200)))
    lines = [b"say hello", b"say !seek 1:30", b"follow 1", b"score", b"userinfo \"\\name\\x\\rate\\0\""]
    seed("broadcast", "viewer", b"\1" + told + b"".join(piece(b"\xe2" + line) for line in lines))
    console = [b"status", b"speed 2", b"seek +30", b"kick 0", b"quit"]
    seed("broadcast", "console", b"\x30" + told + b"".join(piece(b"\xe3" + line) for line in console))
    for row in rows("connect_vectors.csv"):
        packet = bytes.fromhex(row["packet_hex"])
        seed("userinfo", row["name"], b"\x00" + packet[12:])
    seed("userinfo", "clear", b"\x02\\name\\seed\\model\\sarge/red\\handicap\\50\\rate\\9000\\snaps\\40")


def from_words():
    for name, text in (
        ("set", "set g_speed 400\0sets x y\0cvarlist g_*"),
        ("players", "kick fuzz\0say hello\0tell 0 x\0status\0dumpuser 0"),
        ("levels", "map yard\0map_restart\0serverinfo\0+set a b"),
        ("nested", "set a \"vstr a\"\0vstr a; vstr a"),
    ):
        seed("console_commands", name, text.encode())
    for name, text in (
        ("config", "set g_gametype 4; seta sv_hostname \"^1x\" // name\nvstr d1\0set a \"echo one;echo two\"\nvstr a"),
        ("nested", "exec a\0exec b; say hi\0execq c.cfg\0vstr x\0set x \"exec a\""),
        ("itself", "execq a\0execq a; execq a\0exec b"),
        ("comments", "/* set a b;\n */ map yard\r\n\0echo \"x // y\" /* open\0\xff\xfe"),
    ):
        seed("scripts", name, text.encode("latin-1"))
    for name, text in (
        ("lines", '{"id":7,"kind":"ban","network":"10.0.0.0/8","reason":"spam","by":"console","made":1732780800,"expires":1732788000}\n'
                  '{"kind":"mute","guid":"0123456789abcdef0123456789abcdef"}\n{"kind":"exception","name":"*^1bad?*"}\n'),
        ("serverbans", "0 10.0.0.0 8\n1 10.1.2.3 32\n0 2001:db8:: 32\n"),
        ("words", "30m 2h 7d ::ffff:10.1.2.3/104 0123456789abcdef0123456789ABCDEF ^1Sarge"),
    ):
        seed("bans", name, text.encode())
    config = (HERE.parent / "config" / "fragd.toml").read_text()
    lines = [line[1:] for line in config.splitlines() if line.startswith("#") and " = " in line and line[1] != " "]
    tables = [line for line in config.splitlines() if line.startswith("[")]
    seed("config", "every", "\n".join(lines).encode())
    seed("config", "tables", "\n".join(table + "\n" for table in tables).encode())


def clear_messages(name, native):
    """The messages that a captured server sent: put together and no longer scrambled."""
    challenge, whole, command = 0, b"", b""
    for row in rows(name):
        datagram = bytes.fromhex(row["datagram_hex"])
        if row["direction"] != "s2c":
            said = re.search(r"clientCommands \d+:(.*?)( usercmds|$)", row["decoded"])
            command = said.group(1).encode() if said else command
            continue
        if datagram.startswith(b"\xff\xff\xff\xff"):
            words = datagram[4:].split()
            if words[0] == b"challengeResponse":
                challenge = int(words[1])
            continue
        (head,) = struct.unpack_from("<I", datagram)
        number, body = head & 0x7FFFFFFF, datagram[8 if native else 4 :]
        if head >> 31:
            start, length = struct.unpack_from("<HH", body)
            whole = (whole if start else b"") + body[4:]
            if length == 1300:
                continue
            body, whole = whole, b""
        if not native:
            body = body[:4] + descrambled(body[4:], challenge ^ number, command)
        yield number, body


def descrambled(data, key, command):
    """Undoes src/protocol/netchan/scramble.rs with the client's newest command."""
    out = bytearray()
    for at, byte in enumerate(data):
        if command:
            letter = command[at % len(command)]
            key ^= (0x2E if letter > 127 or letter == 0x25 else letter) << (at & 1)
        out.append(byte ^ key & 0xFF)
    return bytes(out)


def from_demos():
    """Captured messages, in a demo and as what a server sends to a client."""
    for name, native, wire in (("session_legacy.csv", 0, 0), ("session_native.csv", 1, 2)):
        demo, pieces, sent = b"", b"", b""
        for number, message in clear_messages(name, native):
            demo += struct.pack("<II", number, len(message)) + message
            pieces += piece(b"\0" + message)
            sent += piece(b"\x97" + message)
        seed("client_messages", name + "-clear", bytes([wire]) + sent)
        seed("demo", name, bytes([2 | native]) + demo + b"\xff" * 8)
        seed("demo", name + "-pieces", bytes([native]) + pieces)
    seed("demo", "empty", b"\x02" + b"\xff" * 8)


def from_captures():
    """Captured sessions as packets, in both formats and byte orders."""
    for name in ("session_legacy.csv", "session_native.csv"):
        ends = {"c2s": (b"\xc0\x00\x02\x07", 40001, b"\xc0\x00\x02\x01", 27960)}
        ends["s2c"] = ends["c2s"][2:] + ends["c2s"][:2]
        packets = []
        for row in rows(name):
            source, source_port, target, target_port = ends[row["direction"]]
            data = bytes.fromhex(row["datagram_hex"])
            udp = struct.pack(">HHHH", source_port, target_port, 8 + len(data), 0) + data
            ip = b"\x45\0" + struct.pack(">HHHBBH", 20 + len(udp), 0, 0, 64, 17, 0) + source + target
            packets.append(ip + udp)
        for order, magic in ((">", 0xA1B23C4D), ("<", 0xA1B2C3D4)):
            file = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, 101)
            for at, packet in enumerate(packets):
                file += struct.pack(order + "IIII", 1700000000, at, len(packet), len(packet)) + packet
            seed("capture", name + (".be" if order == ">" else ".le"), file)
            blocks = struct.pack(order + "IIIHHq", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1) + struct.pack(order + "I", 28)
            blocks += struct.pack(order + "IIHHII", 1, 20, 101, 0, 0, 20)
            for at, packet in enumerate(packets):
                padded = packet + bytes(-len(packet) % 4)
                length = 32 + len(padded)
                blocks += struct.pack(order + "IIIIIII", 6, length, 0, 0, at, len(packet), len(packet)) + padded
                blocks += struct.pack(order + "I", length)
            seed("capture", name + (".be" if order == ">" else ".le") + "ng", blocks)


def from_recordings():
    """A multi-view recording of one frame without players, and its records."""

    def part(kind, content):
        return kind + struct.pack("<II", len(content), zlib.crc32(kind + content)) + content

    key = b"\x01\0\0\x07\0\0\0" + b"\x01\x00\x0a\\mapname\\x" + b"\0\0"
    frame = b"\x02\x64" + b"\0\0" + bytes([65 * 2 + 2, 1, 1, 20]) + b"\0"
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = deflate.compress(key + frame) + deflate.flush(zlib.Z_SYNC_FLUSH)
    head = b"\x07fragd 1\0\x01x\x06baseoa\x01s\x14"
    file = b"\x89FRGM\r\n\x1a" + struct.pack("<I", 1) + part(b"H", head) + part(b"K", b"\x32\0\0\0" + packed)
    seed("multiview", "file", b"\0" + file)
    seed("multiview", "records", b"\x01" + key + frame)
    pieces = part(b"H", head) + part(b"K", b"\x32\0\0\0" + packed)
    for choice in (b"\xff", b"\x80"):
        seed("relay_stream", f"pieces-{choice[0]}", choice + pieces)
        seed("relay_stream", f"messages-{choice[0]}", choice + b"p" + struct.pack("<I", len(pieces)) + pieces)


def number(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def text(words):
    data = words.encode()
    return number(len(data)) + data


def records():
    """One body of each kind, as src/records/journal/format.rs says."""
    arguments = ["serve", "--port", "0", "+set", "sv_hostname", "seed"]
    start = b"\1" + text("0.1.0") + number(1_700_000_000_000) + number(len(arguments))
    start += b"".join(map(text, arguments)) + b"\1" + text("a.toml") + text("g_speed = 300\n") + number(32) + bytes(32)
    yield start
    yield b"\2\0\0\4\x7f\0\0\1" + number(27960)
    yield b"\2\1\0\6" + bytes(15) + b"\1\0\3" + number(27961)
    yield b"\x08\0" + text("maps/yard.bsp") + b"\1" + text("memory") + b"\0" + number(500)
    yield b"\x08\1" + text("maps/yard.bsp") + b"\0" + number(500) + b"abcd"
    yield b"\x08\1" + text("maps/x.bsp") + b"\2" + text("maps/x.bsp")
    yield b"\x08\1" + text("maps/x.bsp") + b"\3" + text("maps/x.bsp") + text("a.pk3") + b"\5\4"
    yield b"\x08\1" + text("maps/x.bsp") + b"\4" + text("maps/x.bsp") + text("a.pk3") + text("torn")
    yield b"\x08\2" + text("maps") + text("bsp") + b"\1" + text("maps/yard.bsp")
    yield b"\x08\3\1" + text("baseoa") + text("pak0") + b"\1" + b"abcd"
    for row in rows("session_legacy.csv")[:6]:
        yield b"\3\x05\0" + bytes.fromhex(row["datagram_hex"])[:600]
        yield b"\7\0" + number(700) + b"abcd"
    yield b"\4\x32"
    yield b"\5\0" + text("say hello")
    yield b"\6\1" + text("over")
    yield b"\x09"


def from_journals():
    all_of_them = list(records())
    seed("journal", "pieces", b"\1" + b"".join(map(piece, all_of_them)))
    journal, running = b"\x89FRGJ\r\n\x1a" + struct.pack("<I", 1), 0
    for body in all_of_them:
        record = number(len(body)) + body
        running = zlib.crc32(record, running)
        journal += record + struct.pack("<I", running)
    seed("journal", "whole", b"\0" + journal)
    seed("journal", "cut", b"\x20" + journal[:-40])
    # Edits of the journal that the target records: a record's number, what happens, bytes.
    edit = lambda at, what, data=b"": piece(struct.pack("<HB", at, what) + data)
    seed("replay", "none", b"")
    seed("replay", "edits", edit(20, 1, b"\4\x32") + edit(22, 4, b"\4abc") + edit(30, 2))
    for name, body in zip("abcdefghijklmnopqrstuvwxyz", all_of_them[1:]):
        seed("replay", name, edit(12, 1, body))
    seed("replay", "cut", edit(0, 5) + edit(9, 3))


def from_arguments():
    configs = HERE.parent / "config" / "loadtests"
    for file in sorted(configs.glob("*.toml")):
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
        seed("command_line", file.stem, b"\1" + "\n".join(lines).encode())
    for name, kind, words in (
        ("serve", 0, "serve\0--port\x000\0+set\0g_speed\x00300\0+map\0oa_dm1"),
        ("bots", 0, "bots\0--connect\0h:1,[::1]\0-n\x004\0--network\0loss=1%\0--expect\0drops=0"),
        ("replay", 0, "replay\0--client\x0010.0.0.1:5\0--until\x0090s\0a.journal"),
        ("maps", 0, "maps\0oa_dm1\0--draw\0a.svg"),
        ("query", 0, "query\0h\0--json"),
        ("shape", 2, "latency=80ms,jitter=20ms,loss=1%,dup=0.5%,reorder=1%,corrupt=1%,cut=1%,rate=8000"),
        ("expect", 3, "snapshot_gap_p99<120ms,loss<=1.5%,drops=0,in_game>=3,memory<100MB"),
        ("stages", 4, "16:30s,32:2m,64:45"),
        ("words", 5, "wander,fight,chat,scores,storm"),
        ("host", 6, "[::1]:27960"),
        ("networks", 7, "any 10.0.0.0/8 ::1/128"),
        ("pattern", 8, "g_*\0g_spead"),
    ):
        seed("command_line", name, bytes([kind]) + words.encode())


def from_replies():
    challenge, ask = piece(b"\x03"), piece(b"\x08")
    for row in rows("discovery_vectors.csv"):
        packet = bytes.fromhex(row["hex"])
        for kind, word in ((1, b"infoResponse\n"), (2, b"statusResponse\n")):
            if packet.startswith(b"\xff\xff\xff\xff" + word):
                body = packet[4 + len(word) :]
                seed("handshake_replies", row["name"], b"\0" + ask + piece(bytes([kind]) + body))
    for wire in range(3):
        joined = challenge + ask + piece(b"\5") + ask
        seed("handshake_replies", f"join{wire}", bytes([wire]) + ask + joined)
        seed("handshake_replies", f"refused{wire}", bytes([wire]) + ask + challenge + piece(b"\x06Server is full.\n"))


def from_states():
    """Words of states: a place, which has the entity in its high byte, and a value."""
    word = lambda place, value: struct.pack("<Hf", place, value)
    whole = lambda place, value: struct.pack("<Hi", place, value)
    for wire in range(3):
        states = piece(b"\2" + whole(0x0000, 1) + word(23, 100.0) + word(0x0100, 1.0))
        states += piece(b"\3" + word(0xFF05, 64.0) + word(0xFF06, -64.0) + whole(0xFF2B, 100))
        states += piece(b"\3" + word(0xFF05, float("nan")) + word(0xFF08, float("inf")))
        texts = piece(b"\x01cs 0 \"\\mapname\\yard\"") + piece(b"\x01chat \"bot: hi\"") + piece(b"\x01map_restart")
        seed("bots", f"states{wire}", bytes([wire]) + states + texts + states)
        seed("bots", f"watching{wire}", bytes([wire | 48]) + texts + states)


def archive():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("maps/a.bsp", b"IBSP" * 40)
        pack.writestr("../x", b"out")
        pack.writestr("b/c.txt", b"")
    seed("pk3", "small", out.getvalue())


YARD = """{ "classname" "worldspawn" "gravity" "600" }
{ "classname" "info_player_deathmatch" "origin" "0 0 32" }
{ "classname" "func_door" "model" "*1" "angle" "-2" "wait" "1" "team" "a" "targetname" "d" }
{ "classname" "func_train" "model" "*2" "target" "p1" "speed" "200" }
{ "classname" "path_corner" "targetname" "p1" "target" "p2" "origin" "0 0 64" }
{ "classname" "path_corner" "targetname" "p2" "target" "p1" "origin" "64 0 64" }
{ "classname" "trigger_push" "model" "*3" "target" "t" }
{ "classname" "trigger_multiple" "model" "*4" "target" "d" "wait" "0.1" }
{ "classname" "func_rotating" "model" "*5" "speed" "90" }
{ "classname" "func_pendulum" "model" "*6" "phase" "0.5" }
{ "classname" "target_position" "targetname" "t" "origin" "0 0 300" }
{ "classname" "weapon_rocketlauncher" "origin" "9 9 9" }
{ "classname" "misc_portal_surface" "target" "c" } { "classname" "misc_portal_camera" "targetname" "c" }
"""


def blocks():
    """A map of one room: two leafs, a floor, a patch."""
    ints = lambda *words: struct.pack(f"<{len(words)}i", *words)
    floats = lambda *words: struct.pack(f"<{len(words)}f", *words)
    lumps = [b""] * 17
    lumps[0] = YARD.encode()
    lumps[1] = b"textures/seed".ljust(64, b"\0") + ints(0, 1)
    planes = [floats(1, 0, 0, 0)]
    for axis in range(3):
        for sign in (-1, 1):
            normal = [0, 0, 0]
            normal[axis] = sign
            planes.append(floats(*normal, 64))
    lumps[2] = b"".join(planes)
    lumps[3] = ints(0, -1, -2, 0, 0, 0, 0, 0, 0)
    lumps[4] = ints(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1) + ints(1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1)
    lumps[5] = ints(0)
    lumps[6] = ints(0, 0)
    lumps[7] = floats(-64, -64, -64, 64, 64, 64) + ints(0, 1, 0, 1)
    lumps[8] = ints(0, 6, 0)
    lumps[9] = b"".join(ints(1 + side, 0) for side in range(6))
    lumps[10] = b"".join(
        floats((n % 3) * 32, (n // 3) * 32, 80 + (n % 2) * 8) + bytes(32) for n in range(9)
    )
    lumps[13] = ints(0, -1, 2, 0, 9, 0, 0) + bytes(68) + ints(3, 3)
    lumps[16] = ints(2, 1) + b"\x03\x03"
    head, body = b"IBSP" + ints(46), b""
    for lump in lumps:
        head += ints(144 + len(body), len(lump))
        body += lump
    seed("map", "room", head + body)
    for choice in (0, 1, 255):
        seed("map_drawing", f"room{choice}", bytes([choice]) + head + body)


def quakeworld_room():
    """A QuakeWorld map of one room with a floor of water, and an archive with it."""
    ints = lambda *words: struct.pack(f"<{len(words)}i", *words)
    shorts = lambda *words: struct.pack(f"<{len(words)}h", *words)
    floats = lambda *words: struct.pack(f"<{len(words)}f", *words)
    lumps = [b""] * 15
    lumps[0] = b'{ "classname" "worldspawn" } { "classname" "info_player_start" "origin" "0 0 0" }\0'
    sides = [(axis, sign) for axis in range(3) for sign in (1, -1)]
    for axis, sign in sides:
        normal = [float(axis == i) for i in range(3)]
        lumps[1] += floats(*normal, 128.0 * sign) + ints(axis)
    lumps[1] += floats(0, 0, 1, -64) + ints(2)
    # Outside of each wall is leaf 0; inside, behind the last plane, water is leaf 2.
    for number, (_, sign) in enumerate(sides):
        inside = number + 1
        lumps[5] += ints(number) + shorts(*((-1, inside) if sign > 0 else (inside, -1)), *[0] * 8)
        lumps[9] += ints(number) + shorts(*((-2, inside) if sign > 0 else (inside, -2)))
    lumps[5] += ints(6) + shorts(-2, -3, *[0] * 8)
    lumps[9] += ints(6) + shorts(-1, -3)
    lumps[4] = b"\3"
    for contents, row in ((-2, -1), (-1, 0), (-3, 0)):
        lumps[10] += ints(contents, row) + shorts(*[0] * 8) + bytes(4)
    lumps[14] = (floats(*[-128.0] * 3, *[128.0] * 3, 0, 0, 0) + ints(0, 0, 0, 0, 2, 0, 0)) * 2
    head, body = ints(29), b""
    for lump in lumps:
        head += ints(124 + len(body), len(lump))
        body += lump
    seed("quakeworld_map", "room", head + body)
    files = [(b"maps/room.bsp", head + body), (b"Maps/Room.bsp", b""), (b"../x", b"out")]
    directory, data = b"", b""
    for name, content in files:
        directory += name.ljust(56, b"\0") + ints(12 + len(data), len(content))
        data += content
    seed("quakeworld_pack", "small", b"PACK" + ints(12 + len(data), len(directory)) + data + directory)


def from_map_sources():
    def box(low, high, texture):
        (x, y, z), (u, v, w) = low, high
        faces = [
            ((x, y, z), (x, v, z), (x, y, w)), ((u, y, z), (u, y, w), (u, v, z)),
            ((x, y, z), (x, y, w), (u, y, z)), ((x, v, z), (u, v, z), (x, v, w)),
            ((x, y, z), (u, y, z), (x, v, z)), ((x, y, w), (x, v, w), (u, y, w)),
        ]
        points = lambda face: " ".join("( %d %d %d )" % point for point in face)
        lines = [f"{points(face)} {texture} 0 0 0 0.5 0.5 0 0 0\n" for face in faces]
        return "{\n" + "".join(lines) + "}\n"

    walls = []
    for axis in range(3):
        for low, high in ((-272, -256), (256, 272)):
            mins, maxs = [-272] * 3, [272] * 3
            mins[axis], maxs[axis] = low, high
            walls.append(box(mins, maxs, "common/caulk"))
    spawn = '{\n"classname" "info_player_deathmatch"\n"origin" "0 0 -200"\n}\n'
    patch = (
        "{\npatchDef2\n{\ncommon/caulk\n( 3 3 0 0 0 )\n(\n"
        + "".join(
            "( " + " ".join(f"( {x} {y} 0 0 0 )" for y in (0, 32, 64)) + " )\n" for x in (0, 32, 64)
        )
        + ")\n}\n}\n"
    )
    door = '{\n"classname" "func_door"\n' + box((0, 0, 0), (8, 64, 64), "common/caulk") + "}\n"
    room = lambda inside: '{\n"classname" "worldspawn"\n' + "".join(walls) + inside + "}\n" + spawn
    seed("map_source", "room", room("").encode())
    seed("map_source", "patch", room(patch).encode())
    seed("map_source", "door", (room(box((-64, -64, -64), (0, 0, 0), "common/hint")) + door).encode())
    seed("map_source", "leak", ('{\n"classname" "worldspawn"\n' + "".join(walls[1:]) + "}\n" + spawn).encode())
    valve = room("").replace(" 0 0 0 0.5 0.5 0 0 0", " [ 1 0 0 0 ] [ 0 -1 0 8 ] 0 0.5 0.5")
    seed("map_source", "valve", valve.encode())
    for path in sorted((HERE.parent / "maps").glob("*.shader")):
        seed("shader_script", path.stem, path.read_bytes())
    seed("shader_script", "sky", b"textures/x/sky\n{\nsurfaceparm sky\nq3map_sun 1 1 1 90 45 60\nskyparms env/x - -\n}\n")
    seed("shader_script", "stages", b"a/b\n{\n{\nmap $lightmap\n}\n{ map a/b.tga\nanimMap 4 a.tga b.tga\n}\n}\n")


def from_rule_recordings():
    """Entries of recorded plays, which follow a generated head."""

    def number(data, at):
        value, shift = 0, 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value, at

    for path in sorted((HERE.parent / "tests" / "rules").glob("*.recording")):
        data = path.read_bytes()
        seed("rule_recording", f"{path.stem}-head", b"\1" + data[8:400])
        _, at = number(data, 8)
        game, at = number(data, at)
        _, at = number(data, at + game)
        plays, at = number(data, at + 4)
        for play in range(min(plays, 12)):
            name, at = number(data, at)
            at += name + 8
            for _ in range(3):
                _, at = number(data, at)
            length, at = number(data, at)
            entries = zlib.decompress(data[at : at + length], -15)
            seed("rule_recording", f"{path.stem}-{play}", b"\2" + entries[:16000])
            at += length


def from_modules():
    for path in sorted((HERE.parent / "tests" / "modules").glob("*.asm")):
        text = path.read_bytes()
        parts = text.split(b"\n;; module ")
        for number, part in enumerate(parts[1:] or parts):
            seed("qvm_image", f"{path.stem}{number}", b"\x01" + (b"; " if parts[1:] else b"") + part)
    # enter 8, const 7, leave 8; in version 1 and with a jump table of one word.
    code = bytes([3, 8, 0, 0, 0, 8, 7, 0, 0, 0, 4, 8, 0, 0, 0, 0])
    rest = code + struct.pack("<I", 1) + b"text\0\0\0\0"
    seed("qvm_image", "image1", b"\0" + struct.pack("<8I", 0x12721444, 3, 32, 15, 48, 4, 8, 65536) + rest)
    head = struct.pack("<9I", 0x12721445, 3, 36, 15, 52, 4, 8, 65536, 4)
    seed("qvm_image", "image2", b"\4" + head + rest + struct.pack("<I", 1))
    # Calls of services with small numbers, addresses of buffers (13 and more) and the ends of the memory (11, 12).
    for service in (0, 3, 7, 14, 15, 17, 18, 24, 32, 36, 46):
        call = struct.pack("<BIBI", 255, 2, 255, service) + bytes((13, 14, 7))
        seed("qagame_services", f"service{service}", call + call[:-3] + bytes((11, 12, 9)))
    # Decisions of the generator: none, few, and as many as a program takes.
    for length in (0, 8, 64, 512):
        seed("qvm_programs", f"choices{length}", bytes(index * 37 & 255 for index in range(length)))


if __name__ == "__main__":
    from_sessions()
    from_quakeworld()
    from_packets()
    from_words()
    from_demos()
    from_captures()
    from_recordings()
    from_journals()
    from_arguments()
    from_replies()
    from_states()
    from_map_sources()
    from_rule_recordings()
    from_modules()
    archive()
    blocks()
    quakeworld_room()
    seed("entity_string", "yard", b"\x00" + YARD.encode())
    seed("entity_string", "yard3", b"\x01" + YARD.encode())
