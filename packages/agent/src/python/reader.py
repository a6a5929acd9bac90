"""Reads new rows of fail2ban's ban table. Part of stockade-agent; runs under fail2ban's own interpreter with -I.

stdin:  {"db", "last", "key": [jail, ip, timeofban] or null, "rows", "bytes", "brief": without failures and log_lines}
stdout: a line {"full", "last", "key", "more"}, then one line a row:
        [rowid, jail, ip, timeofban, bantime, failures, log_lines]

One read transaction, closed before anything is written out: while it is open fail2ban cannot commit.
"""
import json
import sqlite3
import sys

LOG_BYTES = 4 * 1024
# Of a line its beginning, which has date and program, and its end, which mostly has the address.
HEAD, TAIL = 300, 200


def shortened(line):
    return line if len(line) <= HEAD + TAIL else line[:HEAD] + "\u2026" + line[-TAIL:]


def text(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def log_lines(matches):
    if not isinstance(matches, list):
        return ""
    lines = ("".join(text(part) for part in m) if isinstance(m, list) else text(m) for m in matches)
    joined = "\n".join(shortened(line) for line in lines).encode("utf-8", "replace")
    return joined[-LOG_BYTES:].decode("utf-8", "ignore")


def details(raw):
    try:
        data = json.loads(text(raw))
        failures = data.get("failures", 0)
        return int(failures), log_lines(data.get("matches"))
    except (ValueError, TypeError, AttributeError):
        return 0, ""


def key_of(row):
    return [text(row[1]), text(row[2]), int(row[3])]


def read(ask):
    db = sqlite3.connect("file:%s?mode=ro" % ask["db"].replace("%", "%25").replace("?", "%3f").replace("#", "%23"),
                         uri=True, timeout=5, isolation_level=None)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    db.execute("BEGIN")
    try:
        guard = db.execute("SELECT rowid, jail, ip, timeofban FROM bans WHERE rowid = ?", (ask["last"],)).fetchone()
        tail = guard is not None and ask["key"] is not None and key_of(guard) == ask["key"]
        # A row that is gone or another one means that rowids were reused: everything is read, the agent knows what it has seen.
        start = ask["last"] if tail else 0
        end = [ask["last"], ask["key"]] if tail else [0, None]
        out, size, more = [], 0, False
        for row in db.execute("SELECT rowid, jail, ip, timeofban, bantime, data FROM bans WHERE rowid > ? ORDER BY rowid",
                              (start,)):
            if len(out) >= ask["rows"] or size >= ask["bytes"]:
                more = True
                break
            key = key_of(row)
            failures, lines = (0, "") if ask["brief"] else details(row[5])
            line = json.dumps([row[0]] + key + [int(row[4]), failures, lines])
            out.append(line)
            size += len(line)
            end = [row[0], key]
    finally:
        db.close()
    return json.dumps({"full": not tail, "last": end[0], "key": end[1], "more": more}), out


if __name__ == "__main__":
    head, rows = read(json.load(sys.stdin))
    sys.stdout.write("\n".join([head] + rows) + "\n")
