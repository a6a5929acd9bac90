"""Compares the agent's judgement of groups with fail2ban's own expansion: JSON lines on standard input, each the text of
a filter; for each a line comes back: null where fail2ban makes nothing of it, else [what the agent's checker says, what
of its text reaches an action without being an address].

The second is found in another way than the agent's: by the parse tree of Python, and not by the text of the expression."""

import json
import logging
import os
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from fail2ban.client.filterreader import FilterReader
from fail2ban.server.failregex import FailRegex, Regex

try:
    from re import _constants as sre, _parser as parser
except ImportError:
    import sre_constants as sre
    import sre_parse as parser

agent = {}
exec(open(sys.argv[1]).read(), agent)

# What fail2ban's filter and tickets read of the groups.
IDENTITY = ("fid", "ip", "ip4", "ip6", "dns", "cidr", "matches", "failures", "users", "mlfid")


def bodies(pattern):
    """Each named group of an expression, by name, as a tree."""
    tree = parser.parse(pattern)
    names = {number: name for name, number in tree.state.groupdict.items()}
    found, work = {}, [tree]
    while work:
        for kind, value in work.pop():
            if kind is sre.SUBPATTERN:
                if value[0] in names:
                    found[names[value[0]]] = repr(value[-1])
                work.append(value[-1])
            elif kind is sre.BRANCH:
                work += value[1]
            elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                work.append(value[2])
            elif kind in (sre.ASSERT, sre.ASSERT_NOT):
                work.append(value[1])
            elif kind is sre.GROUPREF_EXISTS:
                work += [part for part in value[1:] if part]
    return found


OWN = {}
for tag in ("<HOST>", "<SUBNET>"):
    OWN.update(bodies(Regex._resolveHostTag(tag)))


def reaches(expression):
    """The groups of an expression whose text fail2ban would use as an address, or merge into one, but that are none."""
    out = []
    for name, body in bodies(expression.getRegex()).items():
        merged = name
        for before in ("alt_", "tuple_"):
            if name.startswith(before):
                merged = name[len(before):].rstrip("0123456789").rstrip("_").lower()
                merged = "fid" if merged == "id" else merged
        address = OWN.get(name) == body
        if (name in IDENTITY or merged in IDENTITY) and not address:
            out.append(name)
    return out


def judge(folder, text):
    with open(os.path.join(folder, "filter.d", "made.conf"), "w", encoding="utf-8") as out:
        out.write(text)
    reader = FilterReader("made", "made", {}, basedir=folder)
    if not reader.read():
        return None
    reader.getOptions({})
    expressions, prefix = [], None
    for command in sorted(reader.convert(), key=lambda c: c[2] != "prefregex"):
        values = command[3] if command[0] == "multi-set" else [command[3]]
        if command[2] == "prefregex":
            prefix = Regex(values[0])
            expressions.append(prefix)
        elif command[2] == "addfailregex":
            expressions += [FailRegex(value, prefRegex=prefix) for value in values]
    if not expressions:
        return None
    faults = [fault for e in expressions for fault in agent["group_faults"](e, True, set())]
    return [faults, [name for e in expressions for name in reaches(e)]]


with tempfile.TemporaryDirectory(prefix="stockade-groups-") as folder:
    os.mkdir(os.path.join(folder, "filter.d"))
    os.symlink("/etc/fail2ban/filter.d/common.conf", os.path.join(folder, "filter.d", "common.conf"))
    for line in sys.stdin:
        try:
            answer = judge(folder, json.loads(line))
        except Exception:  # fail2ban refuses it by itself
            answer = None
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
