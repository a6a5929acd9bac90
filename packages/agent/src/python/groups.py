"""Says which groups of an expression carry text that fail2ban takes for an address. Part of stockade-agent.

The ban action puts the address into commands of the firewall. So each group that names an address must be fail2ban's own
pattern, byte for byte, after all tags and variables are filled in.
"""
import re

from fail2ban.server import failregex as engine_failregex
from fail2ban.server.actions import Actions

GROUP = re.compile(r"\(\?P<([^>]*)>")
ADDRESS_TAGS = ("HOST", "ADDR", "IP4", "IP6", "SUBNET", "CIDR", "DNS")
# Fields of a failure and of a ban, in every version of fail2ban: a group of such a name replaces the field.
FIELDS = {"fid", "id", "ip", "ip4", "ip6", "dns", "host", "cidr", "failures", "matches", "users", "time", "bantime", "bancount"}
FIELDS |= set(getattr(engine_failregex, "FAILURE_ID_GROPS", ())) | set(getattr(engine_failregex, "FAILURE_ID_GROUPS", ()))
FIELDS |= set(getattr(Actions.ActionInfo, "AI_DICT", ()))
COMPOSED = re.compile(r"^(alt_|tuple_)(.*?)(?:_?\d+)?$", re.I)


def group_text(pattern, start):
    """The group that begins at `start`, with its closing parenthesis."""
    depth, at, in_class = 0, start, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            at += 1 if pattern[at + 1] == "]" else 2 if pattern[at + 1:at + 3] == "^]" else 0
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return pattern[start:at + 1]
        at += 1
    raise ValueError("a group of fail2ban's own pattern has no end")


def own_patterns():
    """name -> the texts of that group in what fail2ban puts in place of its address tags."""
    found = {}
    for tag in ADDRESS_TAGS:
        for use_dns in ("yes", "no"):
            pattern = engine_failregex.Regex._resolveHostTag("<%s>" % tag, useDns=use_dns)
            for match in GROUP.finditer(pattern):
                found.setdefault(match.group(1), set()).add(group_text(pattern, match.start()))
    return found


OWN_PATTERNS = own_patterns()


def is_field(name, strict):
    lower = name.lower()
    composed = COMPOSED.match(lower)
    if strict and (composed or lower.startswith("mlf")):
        return True
    part = composed.group(2) if composed else lower
    return part in FIELDS or lower in FIELDS or engine_failregex.mapTag2Opt(part) in FIELDS


def group_faults(expression, strict, action_tags):
    """What is wrong with the groups of a compiled expression. `strict`: a template wrote it, not fail2ban's package."""
    pattern, faults, found = expression.getRegex(), [], set()
    for match in GROUP.finditer(pattern):
        name = match.group(1)
        found.add(name)
        if name in OWN_PATTERNS:
            if not any(pattern.startswith(text, match.start()) for text in OWN_PATTERNS[name]):
                faults.append("group (?P<%s>...) is not fail2ban's own pattern of an address" % name)
        elif is_field(name, strict):
            faults.append("group (?P<%s>...) could put its text into a firewall command" % name)
        elif strict and name.lower() in action_tags:
            faults.append("group (?P<%s>...) is used by an action of this host" % name)
    for name in set(expression._regexObj.groupindex) - found:
        faults.append("group %s is not written as fail2ban writes it" % name)
    return faults


def tags_of_actions(stream):
    """Names of the groups that actions of the jail put into their commands, as in <F-USER>."""
    tags = set()
    for words in stream:
        if "action" in words or "addaction" in words:
            for name in re.findall(r"<F-([^<>]+)>", repr(words), re.I):
                tags |= {name.lower(), engine_failregex.mapTag2Opt(name)}
    return tags
