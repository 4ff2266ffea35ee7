#!/usr/bin/env python3
"""Fills corpus/ with first inputs for the fuzz targets, made of the reference vectors and of what the
package itself brings. Run in any folder; what is there stays."""

import csv
import io
import pathlib
import struct
import zipfile

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
            some = taken["s2c"][number : number + 8]
            body = b"".join(piece(b"\x31" + datagram[4:]) for datagram in some)
            seed("client_messages", f"{name}-{number}", bytes([wire]) + body)


def from_packets():
    for row in rows("discovery_vectors.csv"):
        packet = bytes.fromhex(row["hex"])
        if packet.startswith(b"\xff\xff\xff\xff"):
            seed("connectionless", row["name"], piece(packet[4:]))
    for number, line in enumerate(
        ["getstatus x", "getinfo x", "getchallenge 5 Quake3Arena", "rcon fuzzed status", "disconnect"]
    ):
        seed("connectionless", f"line{number}", piece(line.encode()))
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
        seed("words", name, text.encode())
    config = (HERE.parent / "config" / "fragd.toml").read_text()
    lines = [line[1:] for line in config.splitlines() if line.startswith("#") and " = " in line and line[1] != " "]
    tables = [line for line in config.splitlines() if line.startswith("[")]
    seed("config", "every", "\n".join(lines).encode())
    seed("config", "tables", "\n".join(table + "\n" for table in tables).encode())


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


if __name__ == "__main__":
    from_sessions()
    from_packets()
    from_words()
    archive()
    blocks()
    seed("entity_text", "yard", b"\x00" + YARD.encode())
    seed("entity_text", "yard3", b"\x01" + YARD.encode())
