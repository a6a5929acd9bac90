"""What fail2ban's own reader makes of each filter in a folder of configuration: one JSON object, by name, of the
expressions and date patterns with everything filled in. With --regex, which of the expressions on standard input (JSON)
Python itself can compile once fail2ban's tags are filled in."""

import json
import os
import re
import sys

from fail2ban.server.failregex import Regex

if sys.argv[1] == "--regex":
    verdicts = []
    for text in json.load(sys.stdin):
        try:
            Regex(text)
            verdicts.append(None)
        except Exception as error:
            verdicts.append(str(error)[-200:])
    json.dump(verdicts, sys.stdout)
    sys.exit(0)

from fail2ban.client.filterreader import FilterReader

folder = sys.argv[1]
out = {}
for file in sorted(os.listdir(os.path.join(folder, "filter.d"))):
    if not file.endswith(".conf"):
        continue
    reader = FilterReader(file[:-5], "jail", {}, basedir=folder)
    if not reader.read():
        continue
    reader.applyAutoOptions("auto")
    try:
        reader.getOptions({})
    except Exception:  # parts for other filters to build on
        continue
    found = {}
    for command in reader.convert():
        what = command[2]
        values = command[3] if command[0] == "multi-set" else [command[3]]
        found.setdefault(what, []).extend(values)
    out[file[:-5]] = found
json.dump(out, sys.stdout)
