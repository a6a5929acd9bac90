"""
Sends TCP SYNs to this host as if their sources were on the network, all at once, and says what came back.

Input:  {"pairs": [["192.0.2.77", "198.51.100.4", 22], ...], "wait": 0.3, "address": false}; source, own address, port; "wait" after
        the last one; "address": whether the device gets one, which a rule that redirects packets needs
Output: {"answers": ["syn-ack" | "rst" | "unreachable" | "routed" | "none", one of each pair]}
        or {"error": "why there is no device"}

"routed": the host itself has a route for this very address, as a ban by route is one, so nothing was sent.
The packets enter through a TUN device, so they pass every hook of the kernel that packets of a network card pass. While the
device exists, the source addresses are routed to it: answers come back to this program, and nothing leaves the host. The
kernel removes device and route when this program ends, however it ends.
"""
import errno
import fcntl
import json
import os
import select
import socket
import struct
import sys
import time

DEVICE = "stockprobe"
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI, IFF_UP = 0x0001, 0x1000, 0x1
SIOCSIFFLAGS = 0x8914
SYN, RST, ACK = 0x02, 0x04, 0x10


def open_device():
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", DEVICE.encode(), IFF_UP))
    return fd


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def route(kernel, family, packed):
    """Routes one address to the device, by rtnetlink: False where it has a route. The kernel removes ours with the device."""
    newroute, request, acknowledge, create, exclusive = 24, 0x1, 0x4, 0x400, 0x200
    main, static, link, unicast, destination, device = 254, 4, 253, 1, 1, 4
    body = struct.pack("=BBBBBBBBI", family, len(packed) * 8, 0, 0, main, static, link, unicast, 0)
    body += attribute(destination, packed) + attribute(device, struct.pack("=i", socket.if_nametoindex(DEVICE)))
    code = ask_kernel(kernel, newroute, request | acknowledge | create | exclusive, body)
    if code == -errno.EEXIST and is_reached(kernel, family, packed):
        # Somebody else's route to the address stays as it is: ours goes before it for the moment, by a table of its own.
        rule(kernel, family, create)
        rest = struct.pack("=BBBBBBBBI", family, len(packed) * 8, 0, 0, TABLE, static, link, unicast, 0) + body[12:]
        code = ask_kernel(kernel, newroute, request | acknowledge | create, rest)
    if code not in (0, -errno.EEXIST):
        raise OSError(-code, os.strerror(-code))
    return code == 0


# A number that no usual program has for a table of routes.
TABLE = 187
rules = set()


def ask_kernel(kernel, kind, flags, body):
    kernel.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
    return struct.unpack_from("=i", kernel.recv(4096), 16)[0]


def is_reached(kernel, family, packed):
    """Whether the address has a route that leads somewhere, and not one that bans it."""
    body = struct.pack("=BBBBBBBBI", family, len(packed) * 8, 0, 0, 0, 0, 0, 0, 0) + attribute(1, packed)
    kernel.send(struct.pack("=IHHII", 16 + len(body), 26, 0x1, 1, 0) + body)
    answer = kernel.recv(4096)
    return struct.unpack_from("=H", answer, 4)[0] == 24 and answer[16 + 7] == 1


def rule(kernel, family, create):
    """Looks for routes in our table first. One that an ended program left leads nowhere, since its routes went with the device."""
    if family in rules:
        return
    header = struct.pack("=BBBBBBBBI", family, 0, 0, 0, TABLE, 0, 0, 1, 0) + attribute(6, struct.pack("=I", 1))
    while ask_kernel(kernel, 33, 0x5, header) == 0:
        pass
    if create:
        code = ask_kernel(kernel, 32, 0x5 | create, header)
        if code != 0:
            raise OSError(-code, os.strerror(-code))
        rules.add(family)


def give_address():
    """A link-local address without a route, for the time of the device: where it has none, the kernel drops what is redirected."""
    newaddress, link, no_prefix_route = 20, 253, 0x200
    packed = socket.inet_aton("169.254.187.%d" % (1 + number(1) % 254))
    body = struct.pack("=BBBBi", socket.AF_INET, 32, 0, link, socket.if_nametoindex(DEVICE))
    body += attribute(1, packed) + attribute(2, packed) + attribute(8, struct.pack("=I", no_prefix_route))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.settimeout(2)
        kernel.bind((0, 0))
        code = ask_kernel(kernel, newaddress, 0x5 | 0x400 | 0x200, body)
    if code != 0:
        raise OSError(-code, os.strerror(-code))


def route_all(sources):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.settimeout(2)
        kernel.bind((0, 0))
        return {source for source in sources if route(kernel, *source)}


def end_rules():
    families = list(rules)
    rules.clear()
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.settimeout(2)
        kernel.bind((0, 0))
        for family in families:
            rule(kernel, family, 0)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(family, source, target, source_port, port, flags, sequence):
    tcp = struct.pack("!HHIIBBHHH", source_port, port, sequence, 0, 5 << 4, flags, 64240, 0, 0)
    pseudo = source + target + struct.pack("!II" if family == socket.AF_INET6 else "!HH",
                                           *((len(tcp), 6) if family == socket.AF_INET6 else (6, len(tcp))))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    if family == socket.AF_INET6:
        return struct.pack("!IHBB", 6 << 28, len(tcp), 6, 64) + source + target + tcp
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + source + target
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + tcp


def read_answer(data):
    """(family, source, own address, own port, source port), the kind of answer and the sequence number to reset it with; or None."""
    version = data[0] >> 4 if data else 0
    if version == 4 and len(data) >= 28:
        family, protocol, own, source = socket.AF_INET, data[9], data[12:16], data[16:20]
        payload = data[(data[0] & 15) * 4:]
    elif version == 6 and len(data) >= 48:
        family, protocol, own, source, payload = socket.AF_INET6, data[6], data[8:24], data[24:40], data[40:]
    else:
        return None
    if protocol in (1, 58):
        return read_error(family, source, payload)
    if protocol != 6 or len(payload) < 20:
        return None
    key = (family, source, own) + struct.unpack_from("!HH", payload)
    if payload[13] & RST:
        return key, "rst", 0
    if payload[13] & SYN and payload[13] & ACK:
        return key, "syn-ack", struct.unpack_from("!I", payload, 8)[0]
    return None


def read_error(family, source, payload):
    """An ICMP error quotes the packet that it is about."""
    head = 20 if family == socket.AF_INET else 40
    if payload[0] != (3 if family == socket.AF_INET else 1) or len(payload) < 8 + head + 4:
        return None
    quoted = payload[8:]
    own = quoted[16:20] if family == socket.AF_INET else quoted[24:40]
    at = (quoted[0] & 15) * 4 if family == socket.AF_INET else head
    source_port, port = struct.unpack_from("!HH", quoted, at)
    return (family, source, own, port, source_port), "unreachable", 0


def listen(fd, asked, answers, wait):
    """Notes what comes back within some seconds, or until everything was answered."""
    until = time.monotonic() + wait
    while len(answers) < len(asked):
        left = max(0, until - time.monotonic())
        if not select.select([fd], [], [], left)[0]:
            return
        try:
            answer = read_answer(os.read(fd, 65536))
        except BlockingIOError:
            continue
        if answer is None or answer[0] not in asked:
            continue
        key, kind, acknowledged = answer
        answers.setdefault(key, kind)
        if kind == "syn-ack":
            family, source, own, port, source_port = key
            os.write(fd, packet(family, source, own, source_port, port, RST, acknowledged))


def parse(pair):
    source, address, port = pair
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    return family, socket.inet_pton(family, source), socket.inet_pton(family, address), port


def number(size):
    return int.from_bytes(os.urandom(size), "big")


# The device queues no more answers.
BURST = 200


def main():
    wanted = json.load(sys.stdin)
    pairs = [parse(pair) for pair in wanted["pairs"]]
    try:
        fd = open_device()
        if wanted.get("address"):
            give_address()
        routed = route_all(dict.fromkeys(pair[:2] for pair in pairs))
        answers = answers_of(fd, pairs, routed, wanted["wait"])
    except OSError as error:
        print(json.dumps({"error": error.strerror or str(error)}))
        return
    finally:
        end_rules()
    print(json.dumps({"answers": answers}))


def answers_of(fd, pairs, routed, wait):
    first = 33000 + number(2) % 12000
    # What is left of an earlier packet must not answer this one, so no two have a port in common.
    keys = [pair + (first + index % 15000,) for index, pair in enumerate(pairs)]
    asked, answers = {key for key in keys if key[:2] in routed}, {}
    for index, key in enumerate(keys):
        if key in asked:
            family, source, own, port, source_port = key
            os.write(fd, packet(family, source, own, source_port, port, SYN, number(4)))
        if index % BURST == BURST - 1:
            listen(fd, asked, answers, 0)
    listen(fd, asked, answers, wait)
    return [answers.get(key, "none" if key in asked else "routed") for key in keys]


main()
