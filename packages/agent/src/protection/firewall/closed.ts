import { rangesOf } from './ports.ts'
import type { PortRange } from './ports.ts'

/** What an action of fail2ban closes to an address that it bans, as far as its commands say it. */
export interface Closed {
  /** Null: every port. */
  readonly ports: readonly PortRange[] | null
  /** Whether it stops TCP. */
  readonly isTcp: boolean
  /** Which packets pass its rule: those for this server itself, those that it forwards, or both; null: its commands do not say. */
  readonly hook: 'input' | 'forward' | 'both' | null
  /** It names a network card, so a test packet does not meet it. */
  readonly isOfDevice: boolean
  /** It answers with a reset, which looks like a closed port. */
  readonly byReset: boolean
  /** It looks at the source of a packet, and not at what is in it. */
  readonly bySource: boolean
}

/** @param start the commands that build the firewall of the jail, with their tags replaced; `ban` those that ban an address */
export const closedBy = (start: string, ban: string, services: string): Closed => {
  const text = `${start}\n${ban}`
  const portTexts = [...text.matchAll(portLists)].flatMap(
    ([, ...found]) => found.find(list => list !== undefined) ?? [],
  )
  const ranges = portTexts.flatMap(list => rangesOf(list, services))
  const isAll = portTexts.length === 0 || ranges.some(({ first, last }) => first <= 1 && last === 65_535)
  const protocols = [...text.matchAll(protocolLists)].flatMap(([, ...found]) => found.find(Boolean) ?? [])
  return {
    ports: isAll ? null : ranges,
    isTcp: protocols.length === 0 || protocols.some(list => /\b(?:tcp|all|6)\b/.test(list)),
    hook: hookOf(text),
    isOfDevice: /(?:^|\s)(?:-i|--in-interface)\s|\biif(?:name)?\b/m.test(text.replace(/-i lo\b/g, '')),
    byReset: /tcp[- ]reset/.test(text),
    bySource: !/-m string\b|--string\b|--hex-string\b/.test(ban),
  }
}

/** `--dports a,b`, `dport \{ $(echo 'a,b' …) \}`, `dport { a, b }`, `dport a`, `ports="a b"`, `--add-port=a/tcp`. */
const portLists =
  /--dports?[ =]+([\w,:-]+)|\bdport +\\?\{ *\$\(echo '([^']*)'|\bdport +\\?\{([^}\\$]+)\\?\}|\bdport +([\w:-]+)|\bports="([^"$]*)"|--add-port=([\w-]+)/g
const protocolLists =
  /(?:-p|--protocol)[ =]+(\w[\w,]*)|proto in \$\(echo '([^']*)'|l4proto +\\?\{?([^}\\]+?)\\?\}|protocol='(\w+)'|\b(tcp|udp) dport\b/g

const hookOf = (text: string): Closed['hook'] => {
  const chains = [...text.matchAll(/(?:-[IAC]|--insert|--append|--add-rule \S+ \S+) +([\w-]+)/g)].map(
    ([, chain = '']) => chain,
  )
  const hooks = [...text.matchAll(/\bhook +(\w+)/g)].map(([, hook = '']) => hook)
  const places = [...chains, ...hooks]
  const isBoth = places.some(place => /prerouting|ingress|raw/i.test(place))
  const isInput = places.some(place => /input|^(?:IN_|in$)/i.test(place))
  const isForward = places.some(place => /forward|docker/i.test(place))
  if (isBoth || (isInput && isForward)) return 'both'
  return isInput ? 'input' : isForward ? 'forward' : null
}
