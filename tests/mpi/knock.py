"""knock.py HOW DOOR [FILE]: somebody at the door of a run who is no gateway.

    forge     begins a handshake that makes no sense
    garbage   sends what is no message
    pass      lets one gateway through, by a door of its own (FILE), then hangs
              up; keeps what it said in FILE.said
    change    the same, but changes a bit of what the gateway says first when
              it is in, and stays
    answer    the same, but changes a bit of what the master answers
    replay    says what FILE.said has, again
    mute      says nothing
    shy       the same as pass, but falls silent after the handshake
    crowd     300 of them, who say nothing and stay; then 450 who begin to speak

Prints 'closed' once the master hangs up. None stays for longer than 3 minutes.
"""
import json, os, select, signal, socket, struct, sys

how, door = sys.argv[1:3]
lines = json.load(open(door))
signal.alarm(180)
HIDDEN = 23  # the type of all records of TLS that are encrypted


def exactly(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def record(s):  # of TLS
    head = exactly(s, 5)
    return head + exactly(s, struct.unpack(">H", head[3:])[0])


def answer(s):
    """Until the master hangs up."""
    try:
        while s.recv(4096):
            pass
    except ConnectionError:
        pass
    return "closed"


def reach():
    s = socket.create_connection((lines["host"], int(lines["port"])), 30)
    s.settimeout(60)
    return s


def relay(gateway, s):
    """Both sides hear each other until the gateway is in and says more."""
    said = b""
    hidden = {gateway: 0, s: 0}
    while True:
        for side in select.select([gateway, s], [], [], 60)[0]:
            r = record(side)
            hidden[side] += r[0] == HIDDEN
            if how == "shy" and hidden[gateway] == 2:
                return said
            said += r if side is gateway else b""
            if hidden[gateway] == 3 or (how == "answer" and hidden[s] == 1):
                if how == "pass":
                    return said
                r = r[:-1] + bytes([r[-1] ^ 1])
            (s if side is gateway else gateway).sendall(r)


begun = bytes([22, 3, 1, 0, 100])  # the head of a record of a handshake
if how == "crowd":
    crowd = []
    for i in range(750):
        crowd.append(reach())
        if i >= 300:
            crowd[-1].sendall(begun)
    print("here", flush=True)
    signal.pause()
s = reach()
if how == "forge":
    s.sendall(begun + bytes(100))
elif how == "garbage":
    s.sendall(b"GET / HTTP/1.0\r\n\r\n" + bytes(3000))
elif how == "replay":
    s.sendall(open(sys.argv[3] + ".said", "rb").read())
elif how in ("pass", "change", "answer", "shy"):
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
    if how != "shy":
        sys.exit()
print(answer(s))
