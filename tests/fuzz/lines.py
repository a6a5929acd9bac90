"""Runs fail2ban-regex, in one process, over many questions: JSON on standard input, a list of [line, filter]; the
addresses that it found in each line come back, as a list of lists."""

import contextlib
import io
import json
import os
import sys
import tempfile

from fail2ban.client.fail2banregex import exec_command_line

answers = []
for number, (line, name) in enumerate(json.load(sys.stdin)):
    file = os.path.join(tempfile.gettempdir(), "stockade-line-%d-%d" % (os.getpid(), number))
    with open(file, "w") as log:
        log.write(line + "\n")
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            try:
                exec_command_line(["-o", "ip", file, name])
            except SystemExit:
                pass
    finally:
        os.unlink(file)
    answers.append(shown.getvalue().split())
json.dump(answers, sys.stdout)
