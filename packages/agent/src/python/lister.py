"""Lists the jails of fail2ban's merged configuration, enabled or not. Part of stockade-agent; run with -I.

stdin:  {"config": directory, "files": as `staged` takes them, "run": where it copies, "ignoreip": whether it is wanted (it can be long),
         "logpaths": [paths, globs or variables such as %(sshd_log)s]}
stdout: {"socket": path or null, "pidfile": path or null, "jails": [{"name", "enabled", "filter", "logpath", "backend", "maxretry", "bantime",
         "findtime", "banaction", "has_action", "ignoreip"}],
         "logpaths": [{"asked", "places": [paths and globs that it stands for, at most 20], "found": whether one leads to a file}]}
"""
import glob
import json
import logging
import sys

logging.disable(logging.CRITICAL)

from fail2ban.client.configreader import ConfigReader  # noqa: E402
from fail2ban.client.fail2banreader import Fail2banReader  # noqa: E402
from fail2ban.client.jailsreader import JailsReader  # noqa: E402
from fail2ban.server.mytime import MyTime  # noqa: E402

OPTIONS = {
    "enabled": ["bool", False],
    "filter": ["string", ""],
    "logpath": ["string", ""],
    "backend": ["string", ""],
    "maxretry": ["string", None],
    "bantime": ["string", None],
    "findtime": ["string", None],
    "banaction": ["string", ""],
    "action": ["string", ""],
}


def number(value):
    try:
        return int(MyTime.str2seconds(value))
    except Exception:
        return None


def places_of(reader, path):
    """The paths and globs that a path or variable stands for; none where this fail2ban does not define the variable."""
    try:
        if path.startswith("%("):
            path = reader.get("DEFAULT", path[2:-2])
        places = [p.strip() for p in path.split("\n")]
        return [p.rsplit(" ", 1)[0] if p.endswith((" head", " tail")) else p for p in places if p]
    except Exception:
        return []


def log_place(reader, path):
    """Whether fail2ban would find a log under this path, glob or variable."""
    places = places_of(reader, path)
    return {"asked": path, "places": places[:20], "found": any(glob.glob(p) for p in places)}


def listing(ask, base):
    options = dict(OPTIONS, ignoreip=["string", None]) if ask.get("ignoreip") else OPTIONS
    main_config = Fail2banReader(basedir=base, share_config={})
    main_config.read()
    early = main_config.getEarlyOptions()
    reader = JailsReader(basedir=base, share_config={})
    reader.read()
    reader.merge_defaults({"fail2ban_version": "", "fail2ban_confpath": base})
    jails = []
    for name in reader.sections():
        if name in ("INCLUDES", "DEFAULT", "Definition"):
            continue
        found = {}
        for option, kind in options.items():
            # One by one: the variables of a filter are unknown here, and one of them must not hide the other options.
            try:
                found.update(ConfigReader.getOptions(reader, name, {option: kind}) or {})
            except Exception:
                pass
        jails.append({
            "name": name,
            "enabled": bool(found.get("enabled")),
            "filter": (found.get("filter") or "").split("[")[0].strip(),
            "logpath": found.get("logpath") or "",
            "backend": found.get("backend") or "",
            "maxretry": number(found.get("maxretry")),
            "bantime": number(found.get("bantime")),
            "findtime": number(found.get("findtime")),
            "banaction": found.get("banaction") or "",
            "has_action": bool((found.get("action") or "").strip()),
            "ignoreip": found.get("ignoreip"),
        })
    return {"socket": early.get("socket"), "pidfile": early.get("pidfile"), "jails": jails,
            "logpaths": [log_place(reader, p) for p in ask.get("logpaths") or []]}


def main():
    ask = json.load(sys.stdin)
    with staged(ask) as base:
        sys.stdout.write(named(listing(ask, base), base, ask))


if __name__ == "__main__":
    main()
