"""Finds expressions that a line made for them keeps busy: exponential ones by their automaton. Part of stockade-agent.

Python tries one way after the other. Where a loop can take the same text in two ways, the number of ways doubles with
each turn. The automaton has a state for each character of the expression; two different paths from a state back to
itself over the same text are such a loop. Also makes the lines that the rest is tried out with.
"""
try:
    from re import _constants as sre, _parser as parser
except ImportError:
    import sre_constants as sre
    import sre_parse as parser

LOOP = 10
MOST_STATES = 2500
MOST_IN_LOOP = 300
LINE = 1000
MOST_LINES = 60
# Beyond ASCII there are four kinds of characters; no character is of two.
DIGIT, LETTER, BLANK, OTHER = KINDS = range(128, 132)
SAMPLES = {DIGIT: "\u0660", LETTER: "\u00e9", BLANK: "\u00a0", OTHER: "\u2013"}
EVERY = frozenset(range(OTHER + 1))
CATEGORIES = {
    "DIGIT": frozenset(c for c in range(128) if chr(c).isdigit()) | {DIGIT},
    "SPACE": frozenset(c for c in range(128) if chr(c).isspace()) | {BLANK},
    "WORD": frozenset(c for c in range(128) if chr(c).isalnum() or c == 95) | {DIGIT, LETTER},
}


class TooComplex(Exception):
    pass


def category(code):
    name = str(code).replace("CATEGORY_", "").replace("UNI_", "").lower()
    found = CATEGORIES.get(name.replace("not_", "").upper(), EVERY)
    return EVERY - found if name.startswith("not_") else found


def folded(codes):
    more = {ord(case) for c in codes if c < 128 for case in (chr(c).lower(), chr(c).upper())}
    return frozenset(codes) | more


def one(code):
    if code < 128:
        return code
    char = chr(code)
    return DIGIT if char.isdecimal() else LETTER if char.isalnum() else BLANK if char.isspace() else OTHER


def but(found, whole=frozenset()):
    """All characters but these. Of a kind that is not taken as a whole there are others left."""
    return EVERY - found | (frozenset(KINDS) - whole)


def members(items):
    found, whole, negated = set(), set(), False
    for kind, value in items:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            found.add(one(value))
        elif kind is sre.RANGE:
            found.update(range(value[0], min(value[1], 127) + 1), KINDS if value[1] > 127 else ())
        elif kind is sre.CATEGORY:
            found |= category(value)
            whole |= category(value)
    return but(found, whole) if negated else frozenset(found)


def characters(kind, value):
    """The characters that one position takes; None where it is none."""
    if kind is sre.LITERAL:
        return folded({one(value)})
    if kind is sre.NOT_LITERAL:
        return but({one(value)})
    if kind is sre.ANY:
        return EVERY - {10}
    if kind in (sre.ANY_ALL, sre.GROUPREF):
        return EVERY
    if kind is sre.IN:
        return folded(members(value))
    return None


REPEATS = tuple(getattr(sre, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(sre, name))
ATOMIC = getattr(sre, "ATOMIC_GROUP", None)


def inner(kind, value):
    """The parts that stand for one another in this place; None where there are none."""
    if kind is sre.SUBPATTERN:
        return [value[-1]]
    if kind is sre.BRANCH:
        return value[1]
    if kind is sre.GROUPREF_EXISTS:
        return [value[1], value[2] or []]
    if kind is ATOMIC:
        return [value]
    return None


class Automaton:
    def __init__(self, tree):
        self.sets = []
        self.follow = []
        self.of_sequence(tree)

    def state(self, found):
        if len(self.sets) >= MOST_STATES:
            raise TooComplex()
        self.sets.append(found)
        self.follow.append({})
        return len(self.sets) - 1

    def join(self, lasts, firsts):
        for a, ways in lasts.items():
            for b, more in firsts.items():
                self.follow[a][b] = min(2, self.follow[a].get(b, 0) + ways * more)

    def of_sequence(self, tree):
        """(ways to begin, ways to end, ways to be empty); the first two by state. More than two ways count as two."""
        first, last, empty = {}, {}, 1
        for kind, value in tree:
            f, l, e = self.of_part(kind, value)
            self.join(last, f)
            first = added(first, times(f, empty))
            last = added(times(last, e), l)
            empty = min(2, empty * e)
        return first, last, empty

    def of_part(self, kind, value):
        found = characters(kind, value)
        if found is not None:
            state = self.state(found)
            return {state: 1}, {state: 1}, 0
        if kind in REPEATS:
            return self.of_repeat(*value)
        parts = inner(kind, value)
        if parts is None:
            return {}, {}, 1
        first, last, empty = {}, {}, 0
        for part in parts:
            f, l, e = self.of_sequence(part)
            first, last, empty = added(first, f), added(last, l), min(2, empty + e)
        return first, last, empty

    def of_repeat(self, least, most, body):
        if most == 0:
            return {}, {}, 1
        if most > LOOP:
            first, last, empty = self.of_sequence(body)
            self.join(last, first)
            return first, last, 1 if empty or least == 0 else 0
        first, last, empty = {}, {}, 1 if least == 0 else 0
        # Turns are taken one after the other: each may be the last one once there are enough.
        reached, ways = {}, 1
        for turn in range(1, most + 1):
            f, l, e = self.of_sequence(body)
            self.join(reached, f)
            first = added(first, times(f, ways))
            reached = added(times(reached, e), l)
            ways = min(2, ways * e)
            if turn >= least:
                last, empty = added(last, reached), min(2, empty + ways)
        return first, last, empty

    def loops(self):
        """Sets of states that reach one another (Tarjan, without recursion)."""
        index, low, on, stack, found = {}, {}, set(), [], []
        for root in range(len(self.sets)):
            work = [] if root in index else [(root, iter(self.follow[root]))]
            if work:
                index[root] = low[root] = len(index)
                stack.append(root)
                on.add(root)
            while work:
                state, rest = work[-1]
                for nxt in rest:
                    if nxt not in index:
                        index[nxt] = low[nxt] = len(index)
                        stack.append(nxt)
                        on.add(nxt)
                        work.append((nxt, iter(self.follow[nxt])))
                        break
                    if nxt in on:
                        low[state] = min(low[state], index[nxt])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[state])
                    if low[state] == index[state]:
                        group = set()
                        while state not in group:
                            on.discard(stack[-1])
                            group.add(stack.pop())
                        if len(group) > 1 or state in self.follow[state]:
                            found.append(group)
        return found

    def exponential(self):
        return any(self.doubles(loop) for loop in self.loops())

    def doubles(self, loop):
        if any(ways > 1 and b in loop for a in loop for b, ways in self.follow[a].items()):
            return True
        if len(loop) > MOST_IN_LOOP:
            raise TooComplex()
        forward, backward, work = {(s, s) for s in loop}, {}, [(s, s) for s in loop]
        while work:
            pair = a, b = work.pop()
            for x in self.follow[a]:
                for y in self.follow[b]:
                    if x in loop and y in loop and not self.sets[x].isdisjoint(self.sets[y]):
                        backward.setdefault((x, y), []).append(pair)
                        if (x, y) not in forward:
                            forward.add((x, y))
                            work.append((x, y))
        seen, work = set(), [(s, s) for s in loop]
        while work:
            for pair in backward.get(work.pop(), ()):
                if pair[0] != pair[1] and pair in forward:
                    return True
                if pair not in seen:
                    seen.add(pair)
                    work.append(pair)
        return False


def times(ways, factor):
    return {state: min(2, each * factor) for state, each in ways.items()} if factor else {}


def single(tree):
    """The characters of a part that is one of them; None where it is more."""
    if len(tree) != 1:
        return None
    kind, value = tree[0]
    parts = inner(kind, value)
    if parts is None:
        return characters(kind, value)
    sets = [single(part) for part in parts]
    return None if None in sets else frozenset().union(*sets)


def crowded(tree):
    """Whether three loops over the same characters follow one another, as in .*.*.*: long lines take very long."""
    run, last = 0, None
    for kind, value in tree:
        loop = single(value[2]) if kind in REPEATS and value[1] > LOOP else None
        if any(crowded(part) for part in ([value[2]] if kind in REPEATS else inner(kind, value) or [])):
            return True
        if loop is None:
            if tree_width([(kind, value)]) > 0:
                run, last = 0, None
            continue
        run = run + 1 if last is not None and not last.isdisjoint(loop) else 1
        last = loop
        if run == 3:
            return True
    return False


def tree_width(tree):
    """The fewest characters that the parts take."""
    least = 0
    for kind, value in tree:
        if characters(kind, value) is not None:
            least += 0 if kind is sre.GROUPREF else 1
        elif kind in REPEATS:
            least += value[0] * tree_width(value[2])
        else:
            least += min((tree_width(part) for part in inner(kind, value) or []), default=0)
    return least


def added(one_way, other):
    ways = dict(one_way)
    for state, more in other.items():
        ways[state] = min(2, ways.get(state, 0) + more)
    return ways


def sample(found):
    for char in "a1 x.=:-\"/":
        if ord(char) in found:
            return char
    visible = [c for c in found if 32 <= c < 127] or [c for c in found if c < 127]
    return chr(min(visible)) if visible else SAMPLES[min(found)] if found else ""


def words(tree):
    """A text that the tree takes, the shortest in repeats, the first branch of several."""
    out = ""
    for kind, value in tree:
        found = chr(value) if kind is sre.LITERAL else characters(kind, value)
        if found is not None:
            out += found if isinstance(found, str) else sample(found)
        elif kind in REPEATS:
            out += words(value[2]) * min(max(value[0], 1 if value[1] > LOOP else 0), 20)
        else:
            parts = inner(kind, value)
            out += words(parts[0]) if parts else ""
    return out[:LINE]


def attacks(tree, before=""):
    """(what stands before, what is repeated): lines that make an expression with too many ways walk them all."""
    found, between, loops = [], "", 0
    for kind, value in tree:
        if kind in REPEATS and value[1] > LOOP:
            loops += 1
            found.append((before, words(value[2])))
            found += [(before, words(part)) for k, v in value[2] for part in (inner(k, v) or [])]
            between += words(value[2]) if loops == 1 else ""
        if kind in REPEATS:
            found += attacks(value[2], before)
        for part in inner(kind, value) or []:
            found += attacks(part, before)
        text = words([(kind, value)])
        if loops and not (kind in REPEATS and value[1] > LOOP):
            between += text
            found.append((before if loops < 2 else "", between[:200]))
        before = (before + text)[:LINE]
    return found


def attack_lines(pattern):
    lines = []
    for before, pump in attacks(parser.parse(pattern)):
        for start in (before, ""):
            line = start + pump * (LINE // len(pump)) + "\x01!" if pump else ""
            if line and line not in lines and len(lines) < MOST_LINES:
                lines.append(line)
    return lines


def is_ambiguous(pattern):
    try:
        tree = parser.parse(pattern)
        return crowded(tree) or Automaton(tree).exponential()
    except (TooComplex, RecursionError):
        return True
