"""fail2ban action of stockade-agent: notes each ban and unban in a file that the agent reads.

It runs inside fail2ban, so what fail2ban calls for a ban takes no lock, starts no program, and swallows every error: nothing here may disturb
a ban. Where fail2ban has a file system of its own, the agent has its programs run here (`begin`): by the same Python, with the same classes
and files. Each is a process of its own with an end, and no call waits for one.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import fail2ban

from fail2ban.server.action import ActionBase

# The agent reads and empties the file; when it is away for long, the ban table has it all and this file must not grow.
MAX_BYTES = 16 * 1024 * 1024
MAX_MATCHES = 16 * 1024
# Of a line its beginning, which has date and program, and its end, which mostly has the address.
HEAD, TAIL = 300, 200
# Programs at once, and how much of an output is returned at once.
MAX_JOBS = 4
CHUNK = 512 * 1024

# It stands before a program, in one line: the kernel ends the process, whatever becomes of the agent and of fail2ban.
PROLOGUE = ("import resource, signal, sys; signal.signal(signal.SIGALRM, signal.SIG_DFL); signal.alarm(%d); "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (%d, %d)); sys.path.append(%r)\n")


class StockadeAction(ActionBase):

    # Bans that fail2ban restores after a restart are not new.
    norestored = True

    def __init__(self, jail, name, spool=""):
        ActionBase.__init__(self, jail, name)
        self.spool = spool
        self.jobs = {}

    # With bantime.increment the final time comes here.
    @property
    def _prolongable(self):
        return True

    def start(self):
        self.note("start", None)

    def stop(self):
        self.note("stop", None)
        for job in list(self.jobs):
            self.end(job)

    def ban(self, info):
        self.note("ban", info)

    def reban(self, info):
        pass

    def unban(self, info):
        self.note("unban", info)

    def prolong(self, info):
        self.note("prolong", info)

    def flush(self):
        # Being here at all saves one unban for each ticket when fail2ban stops.
        self.note("flush", None)
        return True

    # fail2ban 0.11 calls it of every action when a banned address goes on, and gives up the other bans of that moment without it.
    def consistencyCheck(self, beforeRepair=None):
        return True

    def lines(self, info):
        lines = str(info["matches"]).split("\n")
        short = (line if len(line) <= HEAD + TAIL else line[:HEAD] + "\u2026" + line[-TAIL:] for line in lines)
        return "\n".join(short)[-MAX_MATCHES:]

    def begin(self, job, program, data, seconds, size):
        """Starts a program of the agent with this input. It may run for so many seconds and write so many bytes."""
        while len(self.jobs) >= MAX_JOBS:
            self.end(next(iter(self.jobs)))
        given, out, err = (tempfile.TemporaryFile(dir=os.path.dirname(self.spool)) for _ in range(3))
        given.write(data.encode("utf-8"))
        given.seek(0)
        home = os.path.dirname(os.path.dirname(os.path.abspath(fail2ban.__file__)))
        child = subprocess.Popen([sys.executable, "-I", "-c", PROLOGUE % (seconds, size, size, home) + program], stdin=given, stdout=out,
                                 stderr=err, cwd="/", start_new_session=True)
        given.close()
        self.jobs[job] = (child, out, err)
        return job

    def look(self, job, at):
        """The exit code of a program, null while it runs; its output from a place on; the end of what it complained of."""
        child, out, err = self.jobs[job]
        code = child.poll()
        tail = max(0, os.fstat(err.fileno()).st_size - 4000)
        return [code] + [os.pread(file.fileno(), CHUNK, place).decode("ascii", "replace") for file, place in ((out, at), (err, tail))]

    def end(self, job):
        """Forgets a program, and ends it if it still runs."""
        child, out, err = self.jobs.pop(job)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        out.close()
        err.close()
        return job

    def note(self, what, info):
        try:
            event = {"v": 1, "ev": what, "at": time.time(), "jail": self._jail.name}
            if info is not None:
                # The id is what is banned: a filter may find a user name beside the address.
                event["ip"] = str(info["fid"])
                # As the table rounds it (half to even), so that both give the same key.
                event["time"] = int(round(info["time"]))
                if what != "unban":
                    event["bantime"] = int(info["bantime"])
                    event["failures"] = int(info["failures"])
                    event["matches"] = self.lines(info) if what == "ban" else ""
            line = (json.dumps(event) + "\n").encode("ascii")
            file = os.open(self.spool, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.fstat(file).st_size < MAX_BYTES:
                    os.write(file, line)
            finally:
                os.close(file)
        except Exception:
            pass


Action = StockadeAction
