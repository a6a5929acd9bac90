"""Starts a program with two sockets that Node.js cannot open: one of netfilter, and one to systemd's watchdog.

    launcher.py PROGRAM ARGUMENT...

Their descriptors are in STOCKADE_NETLINK_FD and STOCKADE_NOTIFY_FD. Without CAP_NET_ADMIN the program starts without the
first, and where NOTIFY_SOCKET is not set without the second.
"""

import os
import socket
import sys

NETLINK_NETFILTER = 12
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33

# For glibc: one arena for all threads, and freed memory goes back to the system. 8 MB less of the agent at rest.
os.environ.setdefault("MALLOC_ARENA_MAX", "1")
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", "131072")

os.environ.pop("STOCKADE_NETLINK_FD", None)
try:
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, NETLINK_NETFILTER)
    # Larger than the limits of the system, which needs CAP_NET_ADMIN: a transaction is one write.
    channel.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20)
    channel.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    channel.set_inheritable(True)
    os.environ["STOCKADE_NETLINK_FD"] = str(channel.fileno())
except (OSError, AttributeError):
    pass

os.environ.pop("STOCKADE_NOTIFY_FD", None)
try:
    address = os.environ["NOTIFY_SOCKET"]
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    # A name that begins with @ is of Linux's abstract namespace.
    notify.connect("\0" + address[1:] if address.startswith("@") else address)
    notify.set_inheritable(True)
    os.environ["STOCKADE_NOTIFY_FD"] = str(notify.fileno())
except (OSError, AttributeError, KeyError):
    pass
os.execv(sys.argv[1], sys.argv[1:])
