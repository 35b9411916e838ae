"""knock.py HOW DOOR [FILE]: somebody at the door of a run who is no gateway.

    forge     knocks as job 'forger' and proves with zeros
    old       knocks with an older version of the protocol
    garbage   sends what is no message
    long      announces a message of 4 GB
    early     says HELLO before it has proved anything
    pass      lets one gateway through, by a door of its own (FILE), then hangs
              up; keeps what it said in FILE.said
    change    the same, then changes a bit of what the gateway says next
    welcome   the same, but changes a bit of the WELCOME
    replay    says what FILE.said has, again
    idle      600 of them, who say nothing and stay

Prints what the master answers last: the sentence of an ERROR, or 'closed'.
"""
import os, signal, socket, struct, sys

how, door = sys.argv[1:3]
lines = dict(line.split(None, 1) for line in open(door).read().splitlines())
version = int(lines["bats-mpi"])
KNOCK, CHALLENGE, PROOF, HELLO, ERROR = 14, 15, 16, 1, 11


def frame(payload, rank=0):
    return struct.pack("<II", len(payload), rank) + payload


def text(s):
    return struct.pack("<I", len(s)) + s + b"\0"


def exactly(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def message(s):
    n, rank = struct.unpack("<II", exactly(s, 8))
    return exactly(s, n)


def answer(s, seal=0):
    """The last word: other messages, such as signs of life, are passed over."""
    try:
        while True:
            m = message(s)
            exactly(s, seal)
            if m[0] == ERROR:
                return m[6:-1].decode()
            if m[0] == CHALLENGE:
                return "challenge"
    except (EOFError, ConnectionError):
        return "closed"


def reach():
    s = socket.create_connection((lines["host"], int(lines["port"])), 30)
    s.settimeout(60)
    return s


if how == "idle":
    crowd = [reach() for _ in range(600)]
    print("here", flush=True)
    signal.pause()
way = bytes([2 if lines["auth"] == "secret" else 1])
knock = bytes([KNOCK, version]) + b"BATS" + way + bytes(32) + text(b"forger")
s = reach()
if how == "forge":
    s.sendall(frame(knock))
    print("knocked", file=sys.stderr)
    assert message(s)[0] == CHALLENGE
    s.sendall(frame(bytes([PROOF, version]) + struct.pack("<I", 1)
                    + text(bytes(32))))
elif how == "old":
    s.sendall(frame(bytes([KNOCK, version - 1]) + knock[2:]))
elif how == "garbage":
    s.sendall(b"GET / HTTP/1.0\r\n\r\n" + bytes(3000))
elif how == "long":
    s.sendall(struct.pack("<II", 0xFFFFFFFF, 0) + knock)
elif how == "early":
    s.sendall(frame(bytes([HELLO, version]) + bytes(60)))
elif how == "replay":
    said = open(sys.argv[3] + ".said", "rb").read()
    n = 8 + struct.unpack("<I", said[:4])[0]
    s.sendall(said[:n])
    assert message(s)[0] == CHALLENGE
    s.sendall(said[n:])
elif how in ("pass", "change", "welcome"):
    listener = socket.create_server(("127.0.0.1", 0))
    mine = open(door).read().replace("port " + lines["port"],
                                     "port %d" % listener.getsockname()[1])
    fd = os.open(sys.argv[3] + ".new", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(fd, mine.encode())
    os.rename(sys.argv[3] + ".new", sys.argv[3])
    gateway = listener.accept()[0]
    said = b""
    for _ in range(2):  # KNOCK and CHALLENGE, PROOF and WELCOME
        n = exactly(gateway, 8)
        piece = n + exactly(gateway, struct.unpack("<I", n[:4])[0])
        said += piece
        s.sendall(piece)
        m = message(s)
        if how == "welcome" and m[0] != CHALLENGE:
            m = m[:2] + bytes([m[2] ^ 1]) + m[3:]
        gateway.sendall(frame(m))
    with open(sys.argv[3] + ".said", "wb") as f:
        f.write(said)
    os.unlink(sys.argv[3])  # the gateway will not come back
    if how == "pass":
        sys.exit()
    gateway.settimeout(60)
    n = exactly(gateway, 8)
    said = exactly(gateway, struct.unpack("<I", n[:4])[0] + 16)
    if how == "change":
        said = said[:-17] + bytes([said[-17] ^ 1]) + said[-16:]
    s.sendall(n + said)
    print(answer(s, 16))
    sys.exit()
print(answer(s))
