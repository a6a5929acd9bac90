"""Runs the expressions of a jail over the newest part of its logs, and says whom it would have banned. Part of stockade-agent; runs under
fail2ban's own interpreter with -I, and with fail2ban's own filter, dates and counting. It bans nobody and looks up no names. No line leaves it.

stdin:  {"name", "stream": what builds the jail, "files": [absolute paths, the oldest first], "since": epoch seconds,
         "maxretry", "findtime", "bantime": seconds or null for those of the stream, "ignoreip": [addresses and ranges],
         "links": whether files may be links, "bytes": of logs, "entries": of the journal, "line": bytes, "cpu": seconds, "addresses": how many at most}
stdout: {"banned": [{"ip", "failures", "at", "bans", "stopped", "ignored", "signed_in"}], "settings": {"maxretry", "findtime", "bantime"}, "failures", "others", "lines", "long_lines",
         "from", "to": epoch seconds or null, "read_bytes", "log_bytes": null for a journal, "cut": "bytes", "entries", "cpu", "addresses" or null}
"""
import json
import logging
import os
import re
import resource
import signal
import stat
import sys
import time

logging.disable(logging.CRITICAL)

from fail2ban.helpers import extractOptions  # noqa: E402
from fail2ban.server.failmanager import FailManager, FailManagerEmpty  # noqa: E402
from fail2ban.server.filter import FileContainer, Filter  # noqa: E402
from fail2ban.server.ipdns import IPAddr  # noqa: E402
from fail2ban.server.mytime import MyTime  # noqa: E402
from fail2ban.server.ticket import FailTicket  # noqa: E402

MEMORY = 160 << 20
CHUNK = 64 << 10
# The address stands behind the user name.
SIGNED_IN = re.compile(r"\bAccepted \S+ for .* from (\S+) port \d+")


class Jail:
    """What a filter asks of its jail."""
    database = None

    def __init__(self, name):
        self.name = name


class Cut(Exception):
    """A bound is reached: what was read so far counts."""


def bound(ask):
    """The process is killed where one line alone takes too long. In a service these calls may be forbidden, except for the timer."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 2 * ask["cpu"])
    for act in (lambda: os.nice(19), lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))):
        try:
            act()
        except (OSError, ValueError):
            pass


def settings(stream):
    """Each setting of the jail with its values, in order."""
    for words in stream:
        if len(words) > 3 and words[0] == "set":
            yield words[2], list(words[3:])
        elif len(words) > 3 and words[0] == "multi-set" and isinstance(words[-1], list):
            for value in words[-1]:
                yield words[2], [value]


def filter_of(ask):
    """The filter of the jail; of the journal where the jail reads it."""
    backend = next((str(w[2]) for w in ask["stream"] if w[0] == "add"), "")
    kind, options = extractOptions(backend)
    if not ask["files"] and kind.startswith("systemd"):
        from fail2ban.server.filtersystemd import FilterSystemd
        built = FilterSystemd(Jail(ask["name"]), **options)
    else:
        built = Filter(Jail(ask["name"]))
    for name, values in settings(ask["stream"]):
        value = values[0]
        if name == "addfailregex":
            built.addFailRegex(value)
        elif name == "addignoreregex":
            built.addIgnoreRegex(value)
        elif name == "prefregex":
            built.prefRegex = value
        elif name == "maxlines":
            built.setMaxLines(int(value))
        elif name == "datepattern":
            built.setDatePattern(value)
        elif name == "logencoding":
            built.setLogEncoding(value)
        elif name == "logtimezone":
            built.setLogTimeZone(value)
        elif name == "addjournalmatch" and hasattr(built, "addJournalMatch"):
            built.addJournalMatch(values)
    # Names are not looked up, and what is old counts.
    built.setUseDns("no")
    built.checkFindTime = False
    built.ignoreSelf = False
    for entry in ask["ignoreip"]:
        built.addIgnoreIP(entry)
    return built


def threshold(ask, name, usual):
    """A setting as it is asked for, or as the jail has it."""
    if ask[name] is not None:
        return ask[name]
    for other, values in settings(ask["stream"]):
        if other == name:
            usual = values[0]
    return int(usual) if name == "maxretry" else int(MyTime.str2seconds(usual))


class Run:
    """Counts what lines say, as fail2ban would."""

    def __init__(self, ask):
        self.ask, self.filter = ask, filter_of(ask)
        self.detector = self.filter.dateDetector
        self.manager = FailManager()
        self.maxretry = threshold(ask, "maxretry", "3")
        self.manager.setMaxRetry(self.maxretry)
        self.findtime = threshold(ask, "findtime", "600")
        self.manager.setMaxTime(self.findtime)
        self.manager.maxMatches = 0
        self.bantime = threshold(ask, "bantime", "600")
        self.rows, self.seen, self.signed_in = {}, {}, {}
        self.failures = self.others = self.lines = self.long_lines = self.read_bytes = 0
        self.first = self.last = self.cut = self.log_bytes = None

    def date_of(self, line):
        match = self.detector.matchTime(line)
        if not match[0]:
            return None
        found = self.detector.getTime(line[match[0].start(1):match[0].end(1)], match)
        return found[0] if found else None

    def take(self, line, text, when=None):
        """A line as text, or as fail2ban's parts of it with their time."""
        self.lines += 1
        if self.lines % 50 == 0 and time.process_time() > self.ask["cpu"]:
            raise Cut("cpu")
        found = self.filter.processLine(line, when)
        if self.first is None or self.lines % 50 == 0 or found or "Accepted" in text:
            at = when if when is not None else self.date_of(text)
            if at is not None and at >= self.ask["since"]:
                self.first, self.last = self.first or at, at
                self.sign_in(text, at)
        for _, who, at, _ in found:
            if at >= self.ask["since"]:
                self.fail(who, at)

    def sign_in(self, text, at):
        match = SIGNED_IN.search(text)
        if match and len(self.signed_in) < self.ask["addresses"]:
            self.signed_in[match.group(1)] = at

    def fail(self, who, at):
        if not isinstance(who, IPAddr) or not who.isValid:
            self.others += 1
            return
        ip = str(who)
        self.failures += 1
        if ip not in self.seen and len(self.seen) >= self.ask["addresses"]:
            raise Cut("addresses")
        self.seen[ip] = self.seen.get(ip, 0) + 1
        row = self.rows.get(ip)
        if row and (self.bantime < 0 or at < row["until"]):
            row["stopped"] += 1
            return
        if self.manager.addFailure(FailTicket(who, at)) >= self.maxretry:
            try:
                self.manager.toBan(who)
            except FailManagerEmpty:
                pass
            row = self.rows.setdefault(ip, {"ip": ip, "at": at, "bans": 0, "stopped": 0, "who": who})
            row["bans"] += 1
            row["until"] = at + self.bantime
        if self.failures % 1000 == 0:
            self.manager.cleanup(at)

    def answer(self):
        banned = [{
            "ip": ip, "failures": self.seen[ip], "at": row["at"], "bans": row["bans"], "stopped": row["stopped"],
            "ignored": bool(self.filter.inIgnoreIPList(row["who"], log_ignore=False)),
            "signed_in": self.signed_in[ip] if self.signed_in.get(ip, 0) > row["at"] else None,
        } for ip, row in self.rows.items()]
        settings = {"maxretry": self.maxretry, "findtime": self.findtime, "bantime": self.bantime}
        return {"banned": banned, "settings": settings, "failures": self.failures, "others": self.others, "lines": self.lines,
                "long_lines": self.long_lines, "from": self.first, "to": self.last, "read_bytes": self.read_bytes,
                "log_bytes": self.log_bytes, "cut": self.cut}


def opened(path, links):
    """Never a pipe or a device, whatever lies there by now; a link only where these are the files of fail2ban alone."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise OSError("%s is no file" % path)
    return file


def text_of(run, line):
    return FileContainer.decode_line("log", run.filter.getLogEncoding(), line).rstrip("\r\n")


def start_of(run, file, low, high):
    """The place from which lines are as young as is asked for, found by halves, as fail2ban seeks; somewhat before it at most."""
    while high - low > CHUNK:
        middle = (low + high) // 2
        file.seek(middle)
        dates = (run.date_of(text_of(run, line[:run.ask["line"]])) for line in file.read(CHUNK).split(b"\n")[1:-1])
        date = next((d for d in dates if d is not None), None)
        if date is None:
            break
        if date < run.ask["since"]:
            low = middle
        else:
            high = middle
    return low


def read_file(run, file, start, end):
    longest = run.ask["line"]
    file.seek(start)
    place, is_whole = start, start == 0
    while place < end:
        line = file.readline(longest)
        if not line:
            break
        place += len(line)
        run.read_bytes += len(line)
        is_end = line.endswith(b"\n")
        if is_whole and (is_end or len(line) == longest):
            run.long_lines += not is_end
            text = text_of(run, line)
            run.take(text, text)
        is_whole = is_end


def read_files(run):
    files = [opened(path, run.ask["links"]) for path in run.ask["files"]]
    sizes = [os.fstat(file.fileno()).st_size for file in files]
    run.log_bytes, left = sum(sizes), run.ask["bytes"]
    parts = []
    for file, size in reversed(list(zip(files, sizes))):
        start = start_of(run, file, 0, size)
        if size - start > left:
            start, run.cut = size - left, "bytes"
        left -= size - start
        parts.insert(0, (file, start, size))
    for file, start, size in parts:
        read_file(run, file, start, size)


def read_journal(run):
    reader = run.filter.getJournalReader()
    reader.seek_tail()
    # The last step leads before the oldest of so many entries, if there are more.
    entry = reader.get_previous(run.ask["entries"]) and reader.get_previous()
    if entry and run.filter.getJrnEntTime(entry)[1] > run.ask["since"]:
        run.cut = "entries"
    else:
        reader.seek_realtime(float(run.ask["since"]))
        entry = reader.get_next()
    while entry:
        parts, when = run.filter.formatJournalEntry(entry)
        text = parts[2][:run.ask["line"]]
        run.long_lines += len(text) < len(parts[2])
        run.read_bytes += len(text)
        run.take((parts[0], parts[1], text), text, when)
        entry = reader.get_next()


def main():
    ask = json.load(sys.stdin)
    bound(ask)
    run = Run(ask)
    try:
        if ask["files"]:
            read_files(run)
        elif hasattr(run.filter, "getJournalReader"):
            read_journal(run)
        else:
            raise SystemExit("the jail reads neither a log nor the journal")
    except Cut as cut:
        run.cut = str(cut)
    json.dump(run.answer(), sys.stdout)


if __name__ == "__main__":
    main()
