"""fail2ban action of stockade-agent: notes each ban and unban in a file that the agent reads.

It runs inside fail2ban, so it takes no lock, starts no program, and swallows every error: nothing here may disturb a ban.
"""
import json
import os
import time

from fail2ban.server.action import ActionBase

# The agent reads and empties the file; when it is away for long, the ban table has it all and this file must not grow.
MAX_BYTES = 16 * 1024 * 1024
MAX_MATCHES = 16 * 1024
# Of a line its beginning, which has date and program, and its end, which mostly has the address.
HEAD, TAIL = 300, 200


class StockadeAction(ActionBase):

    # Bans that fail2ban restores after a restart are not new.
    norestored = True

    def __init__(self, jail, name, spool=""):
        ActionBase.__init__(self, jail, name)
        self.spool = spool

    # With bantime.increment the final time comes here.
    @property
    def _prolongable(self):
        return True

    def start(self):
        self.note("start", None)

    def stop(self):
        self.note("stop", None)

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
