/** Ports from `first` to `last`. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** The TCP ports of a list such as "ssh,2222" or "8000:8010 http"; `services` is the text of /etc/services. Names that it lacks are left out. */
export const rangesOf = (text: string, services: string): PortRange[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .flatMap(word => {
      const [first = null, last = first] = /^\d+[:-]\d+$/.test(word)
        ? word.split(/[:-]/).map(Number)
        : [portOf(word, services)]
      return first === null || last === null ? [] : [{ first, last }]
    })

const portOf = (word: string, services: string): number | null => {
  if (/^\d+$/.test(word)) return Number(word)
  const name = word.replace(/[^\w.+-]/g, '')
  const alias = `\\S+[ \\t]+(\\d+)/tcp\\b[^#\\n]*[ \\t]${name}(?:\\s|$)`
  const line = new RegExp(`^(?:${name}[ \\t]+(\\d+)/tcp\\b|${alias})`, 'm').exec(services)
  return line === null ? null : Number(line[1] ?? line[2])
}

export const isWithin = (ranges: readonly PortRange[] | null, port: number): boolean =>
  ranges === null || ranges.some(({ first, last }) => first <= port && port <= last)

export const haveCommon = (one: readonly PortRange[] | null, other: readonly PortRange[] | null): boolean =>
  one === null || other === null || one.some(a => other.some(b => a.first <= b.last && b.first <= a.last))

/** A program of this server that accepts connections. `address`: null: on any. */
export interface Listener {
  readonly address: string | null
  readonly isIPv6: boolean
  readonly port: number
  /** The number of its socket. */
  readonly inode: string
}

const listening = '0A'

/** Who listens on TCP, from /proc/net/tcp and tcp6; loopback is left out. */
export const listenersOf = (tcp: string | null, tcp6: string | null): Listener[] =>
  [tcp, tcp6].flatMap((table, index) =>
    (table ?? '').split('\n').flatMap(line => {
      const fields = line.trim().split(/\s+/)
      const [hex = '', port = ''] = (fields[1] ?? '').split(':')
      if (fields[3] !== listening || hex === '') return []
      const address = addressOf(hex)
      if (address !== null && /^(?:127\.|::1$)/.test(address)) return []
      return [{ address, isIPv6: index === 1, port: parseInt(port, 16), inode: fields[9] ?? '' }]
    }),
  )

/** The kernel writes the address word by word, each in the byte order of the machine; null: any address. */
const addressOf = (hex: string): string | null => {
  if (/^0+$/.test(hex)) return null
  const words = hex.match(/.{8}/g) ?? []
  const bytes = words.flatMap(word => (word.match(/../g) ?? []).reverse())
  if (bytes.length === 4) return bytes.map(byte => parseInt(byte, 16)).join('.')
  const groups = bytes.join('').match(/.{4}/g) ?? []
  if (groups.slice(0, 5).every(group => group === '0000') && groups[5]?.toLowerCase() === 'ffff')
    return bytes
      .slice(12)
      .map(byte => parseInt(byte, 16))
      .join('.')
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
}
