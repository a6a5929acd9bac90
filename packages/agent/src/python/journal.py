"""Finds the newest journal entry that each jail should have read, and how far it has read. Part of stockade-agent; runs under
fail2ban's own interpreter with -I.

stdin:  {"db": path or null, "jails": [{"name", "matches": [[FIELD=value]], "options": {"journalpath", "journalfiles", "journalflags",
         "namespace"}}]}
stdout: {jail: {"newest": seconds or null, "position": seconds or null, "error": text or null}}
"""
import glob
import json
import sqlite3
import sys

try:
    from systemd import journal
except ImportError:
    journal = None

SYSTEM_ONLY = 4


def positions(path):
    """The time of the last entry that each jail has read."""
    if path is None:
        return {}
    db = sqlite3.connect("file:%s?mode=ro" % path.replace("%", "%25").replace("?", "%3f").replace("#", "%23"),
                         uri=True, timeout=5)
    try:
        return dict(db.execute("SELECT jail, lastfilepos FROM logs WHERE path = 'systemd-journal'").fetchall())
    finally:
        db.close()


def reader_of(options):
    """As fail2ban opens it."""
    given = {}
    if options.get("journalpath"):
        given["path"] = options["journalpath"]
    elif options.get("journalfiles"):
        given["files"] = sorted({f for pattern in options["journalfiles"].split() for f in glob.glob(pattern)})
    else:
        given["flags"] = SYSTEM_ONLY
    if options.get("journalflags"):
        given["flags"] = int(options["journalflags"])
    if options.get("namespace"):
        given["namespace"] = options["namespace"]
    return journal.Reader(**given)


def newest_entry(jail):
    reader = reader_of(jail["options"])
    try:
        for match in jail["matches"]:
            for element in match:
                reader.add_match(element)
            reader.add_disjunction()
        reader.seek_tail()
        entry = reader.get_previous()
        when = entry.get("_SOURCE_REALTIME_TIMESTAMP") or entry.get("__REALTIME_TIMESTAMP")
        return when.timestamp() if when else None
    finally:
        reader.close()


def look(jail, read):
    answer = {"newest": None, "position": read.get(jail["name"]), "error": None}
    try:
        if journal is None:
            raise ImportError("fail2ban's Python has no module systemd")
        answer["newest"] = newest_entry(jail)
    except Exception as e:
        answer["error"] = str(e) or type(e).__name__
    return answer


if __name__ == "__main__":
    ask = json.load(sys.stdin)
    read = positions(ask["db"])
    json.dump({jail["name"]: look(jail, read) for jail in ask["jails"]}, sys.stdout)
