"""Checks fail2ban's configuration with fail2ban's own classes. Part of stockade-agent; run with -I.

fail2ban's own test (-t) accepts expressions that do not compile, and its reload then drops every other jail.

stdin:  {"config": directory, "files": as `staged` takes them, "run": where it copies, "jails": [names] or null for every enabled one, "streams": whether they are wanted,
         "trial": "own" where a template wrote the expressions, "mixed" where its filter includes one of the host,
         "host" where it names a filter of the host, else null}
stdout: {"jails": {name: {"enabled", "errors": [...], "stream": [[...], ...]}}, "errors": [...]}
"""
import json
import logging
import os
import re
import signal
import sys

logging.disable(logging.CRITICAL)

from fail2ban.client.jailreader import JailReader  # noqa: E402
from fail2ban.client.jailsreader import JailsReader  # noqa: E402
from fail2ban.server.datedetector import DateDetector  # noqa: E402
from fail2ban.server.failregex import FailRegex, Regex  # noqa: E402
from fail2ban.server.mytime import MyTime  # noqa: E402

SECONDS = ("bantime", "findtime", "bantime.maxtime", "bantime.rndtime")
WHOLE = ("maxretry", "maxlines", "maxmatches")


def values(words):
    """The settings of one command: ["set", J, name, value] or ["multi-set", J, name, [values]]."""
    if words[0] == "multi-set" and isinstance(words[-1], list):
        return [v for v in words[-1] if isinstance(v, str)]
    return words[3:4]


def check_stream(stream):
    errors = []
    settings = [(w[2], v) for w in stream if len(w) > 3 and w[0] in ("set", "multi-set") for v in values(w)]
    plain = {name: value for name, value in settings}
    usedns = plain.get("usedns", "warn")
    multiline = str(plain.get("maxlines", "1")) not in ("1", "None")
    prefregex = None

    def attempt(what, value, action):
        try:
            return action()
        except Exception as error:
            errors.append("%s = %s: %s" % (what, str(value)[:300], str(error)[:300]))
            return None

    if plain.get("prefregex"):
        prefregex = attempt("prefregex", plain["prefregex"], lambda: Regex(plain["prefregex"], useDns=usedns))
    for name, value in settings:
        if name == "addfailregex":
            attempt("failregex", value,
                    lambda: FailRegex(value, prefRegex=prefregex, multiline=multiline, useDns=usedns))
        elif name == "addignoreregex":
            attempt("ignoreregex", value, lambda: Regex(value, multiline=multiline, useDns=usedns))
        elif name in SECONDS and value is not None:
            attempt(name, value, lambda: int(MyTime.str2seconds(value)))
        elif name in WHOLE and value is not None:
            attempt(name, value, lambda: int(value))
        elif name == "datepattern" and value:
            attempt(name, value, lambda: DateDetector().appendTemplate(value) if "{DEFAULT" not in value else None)
    return errors


# Lines that make expressions with too many ways to match walk all of them.
LINES = [unit * 30 + end for unit in ("a", "1", " ", "a ", "1.", "a=", "- ", "a:", '"', "1:") for end in ("", "!", " x\x01")]


def too_slow(trials):
    """Whether trying the lines takes more than a second of processor time, in a process that then just dies."""
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, 1)
            for expression, lines in trials:
                for line in lines:
                    expression.search([(line, "", "")])
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def expressions_of(stream, is_own):
    """The expressions, and whether the template wrote them."""
    plain = {w[2]: w[3] for w in stream if len(w) > 3 and w[0] == "set"}
    usedns = plain.get("usedns", "warn")
    found = [(Regex(plain["prefregex"], useDns=usedns), is_own(None))] if plain.get("prefregex") else []
    for words in stream:
        if len(words) > 3 and words[0] in ("set", "multi-set") and words[2] in ("addfailregex", "addignoreregex"):
            found += [(Regex(v, useDns=usedns), is_own(v)) for v in values(words)]
    return found


def date_expressions(stream):
    found = []
    for words in stream:
        if len(words) > 3 and words[0] in ("set", "multi-set") and words[2] == "datepattern":
            for value in values(words):
                if "{DEFAULT" not in value:
                    detector = DateDetector()
                    detector.appendTemplate(value)
                    found += [t.template.regex for t in detector.templates if getattr(t.template, "regex", None)]
    return found


class Plain:
    """A date pattern, tried like an expression."""

    def __init__(self, pattern):
        self.pattern, self.compiled = pattern, re.compile(pattern)

    def getRegex(self):
        return self.pattern

    def search(self, parts):
        self.compiled.search(parts[0][0])


def try_out(stream, trial, of_jail):
    """What is wrong with the groups of the expressions, and with the time that they take."""
    # With the variables of an included file filled in, nothing tells whose a slow expression is: all are judged.
    own, wrote = trial == "own", trial != "host"
    expressions, tags = expressions_of(stream, lambda value: own or value in of_jail), tags_of_actions(stream)
    faults = ["%s: %s" % (fault, e.getRegex()[:300]) for e, strict in expressions for fault in group_faults(e, strict, tags)]
    if faults:
        return faults
    if wrote:
        expressions += [(Plain(pattern), True) for pattern in date_expressions(stream)]
    endless = [e for e, strict in expressions if (strict or wrote) and is_ambiguous(e.getRegex())]
    if endless:
        return ["a repetition can take the same text in several ways, so that one line can stop fail2ban: %s"
                % e.getRegex()[:300] for e in endless]
    trials = [(e, LINES + (attack_lines(e.getRegex()) if strict or wrote else [])) for e, strict in expressions]
    slow = [t[0] for t in trials if too_slow([t])] if too_slow(trials) else []
    return ["an expression takes more than a second for one short line: %s" % e.getRegex()[:300] for e in slow]


def texts_of_jail(jail):
    """The expressions that stand in the jail itself: a template may write them beside a filter of the host."""
    return {line for name in ("failregex", "ignoreregex") for line in str((jail.options or {}).get(name) or "").split("\n")}


def check_jail(reader, name, trial=None):
    jail = JailReader(name, share_config=reader.share_config, use_config=reader._cfg)
    try:
        good = jail.getOptions()
        if good and not jail.isEnabled():
            return {"enabled": False, "errors": [], "stream": []}
        if not good:
            error = (jail.options or {}).get("config-error") or "the configuration of this jail is not readable"
            return {"enabled": True, "errors": [str(error)], "stream": []}
        stream = jail.convert()
        bad = [w[1] for w in stream if w[0] == "config-error"]
        stream.append(["start", name])
        errors = bad or check_stream(stream)
        if trial and not errors:
            errors = try_out(stream, trial, texts_of_jail(jail))
        return {"enabled": True, "errors": errors, "stream": [] if bad else stream}
    except Exception as error:
        return {"enabled": True, "errors": ["%s" % error], "stream": []}


def check(ask, base):
    result = {"jails": {}, "errors": []}
    try:
        reader = JailsReader(basedir=base, share_config={})
        reader.read()
        known = [s for s in reader.sections() if s not in ("INCLUDES", "DEFAULT", "Definition")]
    except Exception as error:
        result["errors"].append("%s" % error)
        known = []
    for name in known if ask["jails"] is None else ask["jails"]:
        if name not in known:
            if not result["errors"]:
                result["errors"].append("there is no jail %s in the configuration" % name)
            continue
        found = check_jail(reader, name, ask.get("trial"))
        if not ask.get("streams", True):
            found["stream"] = []
        if ask["jails"] is not None or found["enabled"]:
            result["jails"][name] = found
    return result


def main():
    ask = json.load(sys.stdin)
    with staged(ask) as base:
        sys.stdout.write(named(check(ask, base), base, ask))


if __name__ == "__main__":
    main()
