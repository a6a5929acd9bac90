"""Starts a program with a netlink socket of netfilter, because Node.js cannot open one.

    launcher.py PROGRAM ARGUMENT...

The number of the descriptor is in STOCKADE_NETLINK_FD. Without CAP_NET_ADMIN the program starts without the socket.
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
os.execv(sys.argv[1], sys.argv[1:])
