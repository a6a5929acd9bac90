"""Says what fail2ban itself makes of a folder of configuration: its own dump, and its own classes over every
expression, date pattern and time in it. Prints one JSON object: the commands, and what its classes refused."""

import ast
import json
import subprocess
import sys

from fail2ban.server.datetemplate import DatePatternRegex
from fail2ban.server.failregex import FailRegex, Regex
from fail2ban.server.mytime import MyTime

client, folder = sys.argv[1:3]
run = subprocess.run([client, "-c", folder, "-d"], capture_output=True, text=True)
commands = []
for line in run.stdout.splitlines():
    if line.startswith("["):
        commands.append(ast.literal_eval(line))

refused = []
prefixes = {c[1]: c[3] for c in commands if c[0] == "set" and c[2] == "prefregex"}
multiline = {c[1] for c in commands if c[0] == "set" and c[2] == "maxlines" and int(c[3]) > 1}


def attempt(jail, what, value, check):
    try:
        check(value)
    except Exception as error:  # whatever its classes raise would stop the jail
        refused.append([jail, what, value, "%s: %s" % (type(error).__name__, str(error)[-300:])])


for command in commands:
    if command[0] not in ("set", "multi-set"):
        continue
    jail, what = command[1:3]
    many = jail in multiline
    values = command[3] if command[0] == "multi-set" and what.startswith("add") else command[3:4]
    for value in values:
        if what == "prefregex":
            attempt(jail, what, value, lambda v: Regex(v, multiline=many))
        elif what == "addfailregex":
            prefix = prefixes.get(jail)
            attempt(
                jail, what, value,
                lambda v: FailRegex(v, prefRegex=Regex(prefix, multiline=many) if prefix else None, multiline=many),
            )
        elif what == "addignoreregex":
            attempt(jail, what, value, lambda v: Regex(v, multiline=many))
        elif what in ("findtime", "bantime", "bantime.maxtime", "bantime.rndtime"):
            attempt(jail, what, value, lambda v: int(MyTime.str2seconds(v)))
        elif what == "datepattern":
            for line in value.split("\n"):
                bare = line.replace("{DATE}", "x").replace("{^LN-BEG}", "").replace("{UNB}", "")
                for word in ("{EPOCH}", "{LEPOCH}", "{NONE}"):
                    bare = bare.replace(word, "x")
                if bare.strip():
                    attempt(jail, what, bare, lambda v: DatePatternRegex(v)._compileRegex())

json.dump({"code": run.returncode, "errors": run.stderr[-4000:], "commands": commands, "refused": refused}, sys.stdout)
