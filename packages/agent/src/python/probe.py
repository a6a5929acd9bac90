"""
Sends one TCP SYN of each source to each target as if it came from the network, and says what came back.

Input:  {"sources": ["192.0.2.77", ...], "targets": [{"address": "198.51.100.4", "port": 22}], "wait": 0.3}; all of one family
Output: {"answers": [["syn-ack" | "rst" | "unreachable" | "none", one of each target], one list of each source]}
        or {"error": "why there is no device"}

The packets enter through a TUN device, so they pass every hook of the kernel that packets of a network card pass. While the
device exists, the source addresses are routed to it: answers come back to this program, and nothing leaves the host. The
kernel removes device and route when this program ends, however it ends.
"""
import fcntl
import json
import os
import random
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


def route(family, packed):
    """Routes one address to the device, by rtnetlink. The kernel removes the route with the device."""
    newroute, request, acknowledge, create, replace = 24, 0x1, 0x4, 0x400, 0x100
    main, static, link, unicast, destination, device = 254, 4, 253, 1, 1, 4
    body = struct.pack("=BBBBBBBBI", family, len(packed) * 8, 0, 0, main, static, link, unicast, 0)
    body += attribute(destination, packed) + attribute(device, struct.pack("=i", socket.if_nametoindex(DEVICE)))
    flags = request | acknowledge | create | replace
    message = struct.pack("=IHHII", 16 + len(body), newroute, flags, 1, 0) + body
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.settimeout(2)
        kernel.bind((0, 0))
        kernel.send(message)
        code = struct.unpack_from("=i", kernel.recv(4096), 16)[0]
    if code != 0:
        raise OSError(-code, os.strerror(-code))


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
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), random.getrandbits(16), 0, 64, 6, 0) + source + target
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + tcp


def read_answer(data, family, source, target, source_port, port):
    """What a packet says to our SYN, and the sequence number to reset it with; None if it is not about it."""
    if family == socket.AF_INET:
        if len(data) < 40 or data[0] >> 4 != 4 or data[16:20] != source:
            return None
        protocol, payload, sender = data[9], data[(data[0] & 15) * 4:], data[12:16]
    else:
        if len(data) < 60 or data[0] >> 4 != 6 or data[24:40] != source:
            return None
        protocol, payload, sender = data[6], data[40:], data[8:24]
    if protocol in (1, 58):
        unreachable = 3 if protocol == 1 else 1
        return ("unreachable", 0) if payload[0] == unreachable else None
    if protocol != 6 or sender != target or struct.unpack_from("!HH", payload) != (port, source_port):
        return None
    flags = payload[13]
    acknowledged = struct.unpack_from("!I", payload, 8)[0]
    if flags & RST:
        return ("rst", 0)
    return ("syn-ack", acknowledged) if flags & SYN and flags & ACK else None


def ask(fd, family, source, target, port, wait):
    source_port = random.randint(33000, 60000)
    started = time.monotonic()
    os.write(fd, packet(family, source, target, source_port, port, SYN, random.getrandbits(32)))
    while True:
        left = started + wait - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return "none"
        try:
            answer = read_answer(os.read(fd, 65536), family, source, target, source_port, port)
        except BlockingIOError:
            continue
        if answer is None:
            continue
        kind, acknowledged = answer
        if kind == "syn-ack":
            os.write(fd, packet(family, source, target, source_port, port, RST, acknowledged))
        return kind


def main():
    wanted = json.load(sys.stdin)
    family = socket.AF_INET6 if ":" in wanted["sources"][0] else socket.AF_INET
    sources = [socket.inet_pton(family, source) for source in wanted["sources"]]
    try:
        fd = open_device()
        for source in sources:
            route(family, source)
    except OSError as error:
        print(json.dumps({"error": error.strerror or str(error)}))
        return
    targets = [(socket.inet_pton(family, target["address"]), target["port"]) for target in wanted["targets"]]
    answers = [
        [ask(fd, family, source, address, port, wanted["wait"]) for address, port in targets]
        for source in sources
    ]
    print(json.dumps({"answers": answers}))


main()
