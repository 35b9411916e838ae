"""knock.py HOW DOOR [FILE]: somebody at the door of a run who is no gateway.

    forge     knocks as job 'forger', with nothing that proves it
    old       knocks with an older version of the protocol
    garbage   sends what is no message
    long      announces a message of 4 GB
    early     says HELLO before it has proved anything
    pass      lets one gateway through, by a door of its own (FILE), then hangs
              up; keeps what it said in FILE.said
    change    the same, but changes a bit of what the gateway says first when
              it is in, and stays
    answer    the same, but changes a bit of what the master answers
    replay    says what FILE.said has, again
    crowd     300 of them, who say nothing and stay; then 450 who knock and stay

Prints what the master answers last: the sentence of an ERROR, or 'closed'.
"""
import json, os, select, signal, socket, struct, sys

how, door = sys.argv[1:3]
lines = json.load(open(door))
version = int(lines["bats-mpi"])
KNOCK, CHALLENGE, HELLO, ERROR = 14, 15, 1, 11
HIDDEN = 23  # the type of all records of TLS that are encrypted


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


def clear(s):  # a frame, with its head
    head = exactly(s, 8)
    return head + exactly(s, struct.unpack("<II", head)[0])


def record(s):  # of TLS
    head = exactly(s, 5)
    return head + exactly(s, struct.unpack(">H", head[3:])[0])


def answer(s):
    """Until the master hangs up: what it says in the clear."""
    try:
        while True:
            m = clear(s)[8:]
            if m[0] == ERROR:
                return m[6:-1].decode()
    except (EOFError, ConnectionError, struct.error):
        return "closed"


def reach():
    s = socket.create_connection((lines["host"], int(lines["port"])), 30)
    s.settimeout(60)
    return s


def relay(gateway, s):
    """Both sides hear each other until the gateway is in and says more."""
    said = clear(gateway)
    s.sendall(said)
    gateway.sendall(clear(s))
    hidden = {gateway: 0, s: 0}
    while True:
        for side in select.select([gateway, s], [], [], 60)[0]:
            r = record(side)
            hidden[side] += r[0] == HIDDEN
            said += r if side is gateway else b""
            if hidden[gateway] == 3 or (how == "answer" and hidden[s] == 1):
                if how == "pass":
                    return said
                r = r[:-1] + bytes([r[-1] ^ 1])
            (s if side is gateway else gateway).sendall(r)


knock = (bytes([KNOCK, version]) + b"BATS" + struct.pack("<I", 1)
         + text(b"forger"))
if how == "crowd":
    crowd = []
    for i in range(750):
        crowd.append(reach())
        if i >= 300:
            crowd[-1].sendall(frame(knock))
    print("here", flush=True)
    signal.pause()
s = reach()
if how == "forge":
    s.sendall(frame(knock))
    m = clear(s)[8:]
    if m[0] == ERROR:
        print(m[6:-1].decode())
        sys.exit()
    s.sendall(bytes([22, 3, 1, 0, 100]) + bytes(100))
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
    m = clear(s)[8:]
    if m[0] == ERROR:
        print(m[6:-1].decode())
        sys.exit()
    s.sendall(said[n:])
elif how in ("pass", "change", "answer"):
    listener = socket.create_server(("127.0.0.1", 0))
    mine = json.dumps(dict(lines, port=listener.getsockname()[1]))
    fd = os.open(sys.argv[3] + ".new", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(fd, mine.encode())
    os.rename(sys.argv[3] + ".new", sys.argv[3])
    gateway = listener.accept()[0]
    os.unlink(sys.argv[3])  # the gateway will not come back
    try:
        said = relay(gateway, s)
        with open(sys.argv[3] + ".said", "wb") as f:
            f.write(said)
    except (EOFError, ConnectionError):
        pass
    sys.exit()
print(answer(s))
