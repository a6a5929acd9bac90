"""What fail2ban finds in each of several lines: JSON on standard input, a list of [jail text, filter text, lines]; for
each, what fail2ban-regex finds with the filter, and what a jail with both texts does. A line's answer is the list of
addresses, with null for an id that is none, "named" where a name would have to be looked up, or "error" where the engine gives the line up. Each
case has a process of its own: fail2ban remembers between lines where dates stand."""

import ipaddress
import json
import os
import sys
import tempfile

from fail2ban.client import fail2banregex
from fail2ban.client.jailreader import JailReader
from fail2ban.server.filter import Filter
from fail2ban.server.ipdns import DNSUtils, IPAddr

ENGINE = "/etc/fail2ban"
NAME = "sample"
NAMED = "192.0.2.254"

# Every name has an address here: what a resolver would say is not asked.
DNSUtils.dnsToIp = staticmethod(lambda name: {IPAddr(NAMED)})


def plain(found):
    """An address or a range as everybody writes it; None for what is none."""
    text = str(found)
    if text == NAMED:
        return "named"
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    single = network.prefixlen == network.max_prefixlen
    mapped = getattr(network.network_address, "ipv4_mapped", None) if single else None
    return str(mapped or (network.network_address if single else network))


def answer(found):
    return [plain(each[3].get("ip", each[1])) for each in found if not each[3].get("nofail")]


def each_line(lines, find):
    answers = []
    for line in lines:
        try:
            answers.append(answer(find(line)))
        except Exception as error:
            answers.append("error")
    return answers


def by_tool(folder, lines):
    parser = fail2banregex.get_opt_parser()
    options, _ = parser.parse_args(["-c", folder, "-o", "ip"])
    tool = fail2banregex.Fail2banRegex(options)
    if not tool.readRegex(NAME, "fail"):
        return "unreadable"
    return each_line(lines, lambda line: tool.testRegex(line)[1])


def by_jail(folder, lines):
    reader = JailReader(NAME, basedir=folder, force_enable=True)
    reader.read()
    if not reader.getOptions():
        return "unreadable"
    watch = Filter(None)
    watch.checkFindTime = False
    setters = {
        "usedns": watch.setUseDns,
        "maxlines": watch.setMaxLines,
        "datepattern": watch.setDatePattern,
        "addfailregex": watch.addFailRegex,
        "addignoreregex": watch.addIgnoreRegex,
        "prefregex": lambda value: setattr(watch, "prefRegex", value),
    }
    for command in reader.convert(allow_no_files=True):
        if command[0] in ("set", "multi-set") and command[2] in setters:
            for value in command[3] if command[0] == "multi-set" else command[3:4]:
                setters[command[2]](value)
    return each_line(lines, watch.processLine)


def judge(jail, text, lines):
    with tempfile.TemporaryDirectory(prefix="stockade-judge-") as folder:
        os.mkdir(os.path.join(folder, "filter.d"))
        for file in ("common.conf",):
            os.symlink(os.path.join(ENGINE, "filter.d", file), os.path.join(folder, "filter.d", file))
        with open(os.path.join(folder, "filter.d", NAME + ".conf"), "w") as out:
            out.write(text)
        with open(os.path.join(folder, "jail.conf"), "w") as out:
            out.write("[DEFAULT]\nusedns = warn\nbackend = auto\naction =\n" + jail)
        return [by_tool(folder, lines), by_jail(folder, lines)]


answers = []
for case in json.load(sys.stdin):
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        with os.fdopen(send, "w") as out:
            try:
                json.dump(judge(*case), out)
            except Exception as error:
                json.dump(["%s: %s" % (type(error).__name__, error)] * 2, out)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as given:
        answers.append(json.load(given))
    os.waitpid(child, 0)
json.dump(answers, sys.stdout)
