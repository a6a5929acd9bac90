import { lastOf } from '@stockade/contract/spans.ts'
import { parseIp, parseRange } from './ip.ts'
import type { IpRange } from './ip.ts'

/*
 * One line of a list of addresses, as other programs write it: fail2ban's ignoreip, hosts.deny, nginx, ipset, RouterOS, PeerGuardian, DShield, Tor
 * and others. Each line means one thing: it names one address or range, or nothing but addresses.
 */

/** An address or range, or all between two addresses. */
export interface Found {
  readonly from: IpRange
  readonly to: IpRange
}
interface Addresses {
  readonly found: readonly Found[]
  readonly note: string
}
/** The addresses of a line, what else stands in it, and its comment. */
export interface ReadLine extends Addresses {
  readonly comment: string
}

/** Addresses that one line may name. */
const mostInLine = 200

const single = (text: string): Found | null => {
  const range = parseRange(text)
  return range && { from: range, to: range }
}
/** Null when it is no range, or its end lies before its start. */
const fromTo = (first: string, last: string): Found | null => {
  const [from, to] = [parseIp(first), parseIp(last)]
  return from && to && from.bytes.length === to.bytes.length && Buffer.compare(from.bytes, to.bytes) <= 0
    ? { from, to }
    : null
}
/** `255.255.255.0` as a length; null for what is no netmask of IPv4. */
const lengthOfMask = (text: string): number | null => {
  const mask = /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text) ? parseIp(text) : null
  const bits = mask && [...mask.bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  return bits && /^1+0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : null
}
/** Octets of three digits each, as tables of fixed width write them. */
const withoutZeros = (text: string): string =>
  /^\d{3}(?:\.\d{3}){3}(?=$|[/:-])/.test(text) ? text.replace(/\b0{1,2}(?=\d)/g, '') : text
const withoutPort = (text: string): string =>
  /^(\d+(?:\.\d+){3}):\d{1,5}$/.exec(text)?.[1] ?? /^\[([0-9a-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1] ?? text

/** One address, range (`a/24`, `a/255.255.255.0`, `a-b`) or address with a port; null for anything else. */
export const readAddress = (token: string): Found | null => {
  const text = withoutZeros(withoutPort(token))
  const dash = text.indexOf('-')
  if (dash >= 0) return fromTo(text.slice(0, dash), withoutZeros(text.slice(dash + 1)))
  const slash = text.indexOf('/')
  const length = slash < 0 ? null : lengthOfMask(text.slice(slash + 1))
  return single(length === null ? text : `${text.slice(0, slash)}/${length}`)
}

/** Without signs of a kind at both ends. An expression that looks for them at the end would begin anew at each. */
const trimmed = (text: string, signs: string): string => {
  let [from, to] = [0, text.length]
  while (from < to && signs.includes(text[from] ?? '')) from++
  while (to > from && signs.includes(text[to - 1] ?? '')) to--
  return text.slice(from, to)
}
const unquoted = (token: string): string => trimmed(token, `"'(),;`)
/** Beginnings of lines that other programs write before an address. */
const beginnings = [
  /^(?:ignoreip|ignore_ip)\s*=\s*/i,
  /^(?:deny|allow)(?:\s+from)?\s+(?=[\d[:a-f])/i,
  /^require\s+(?:not\s+)?ip\s+/i,
  /^add\s+[\w.:-]+\s+(?=[\d[:a-f])/i,
  /^ExitAddress\s+/,
  /^-\s+/,
  /^(?:ip\s+route\s+add\s+)?(?:blackhole|unreachable)\s+/i,
  // hosts.deny: a program, and whom it does not serve.
  /^[\w@.-]*[a-z][\w@.-]*\s*:\s+(?=[\d[])/i,
]
/** Lines of other programs that name nobody. */
const isSilent = (line: string): boolean =>
  /^(?:create|flush|destroy|COMMIT|\*\w+|:\w+ \w+)\b|^(?:ExitNode|Published|LastStatus)\s|^(?:---|\.\.\.)$|^\/ip(?:v6)?\s+firewall\s+address-list$/.test(
    line,
  )

/** Where an address stands behind a name, such as `address=` of RouterOS or `-s` of iptables. */
const addressOption = (line: string): string | null =>
  /\baddress="?([0-9a-f:./-]+)/i.exec(line)?.[1] ??
  /\s(?:-s|--source|saddr)\s+([0-9a-f:./]+)/i.exec(line)?.[1] ??
  // PeerGuardian: `Name of somebody:first-last`.
  /:\s*((?:\d{1,3}\.){3}\d{1,3}\s*-\s*(?:\d{1,3}\.){3}\d{1,3})$/.exec(line)?.[1]?.replace(/\s+/g, '') ??
  null

/** Ranges of two columns have at least so many bits of host: two neighbours are two addresses. */
const fewestHostBits = 4
/** Whether a range is one network. */
const isNetwork = ({ from, to }: Found): boolean => {
  const size = from.bytes.length * 8
  for (let prefix = 1; prefix <= size - fewestHostBits; prefix++) {
    const network = parseRange(`${from.text}/${prefix}`)
    if (network?.text === `${from.text}/${prefix}` && Buffer.compare(lastOf(network), to.bytes) === 0) return true
  }
  return false
}
/** Columns that are one range: `first last length` (DShield), `network netmask`, or the first and the last address of one network. */
const rangeOfColumns = (text: string): Addresses | null => {
  const [, first = '', second = '', rest = ''] = /^([\d.:a-f]+)[ \t]+([\d.:a-f]+)(?![^\s])[ \t]*(.*)$/i.exec(text) ?? []
  const mask = /^255\./.test(second) ? lengthOfMask(second) : null
  if (mask !== null) {
    const network = single(`${withoutZeros(first)}/${mask}`)
    return network && { found: [network], note: rest }
  }
  const range = fromTo(withoutZeros(first), withoutZeros(second))
  if (range === null) return null
  const [, length, note = ''] = /^(\d{1,3})(?!\S)\s*(.*)$/.exec(rest) ?? []
  if (length !== undefined) return { found: [range], note }
  return isNetwork(range) ? { found: [range], note: rest } : null
}

/** The addresses at the beginning of a text, and what follows them. */
const leading = (text: string): Addresses => {
  const columns = rangeOfColumns(text)
  if (columns) return columns
  const entries: Found[] = []
  let rest = text
  while (entries.length < mostInLine) {
    // A range may have white space around its dash.
    const [whole = '', token = '', last] =
      /^[\s,;|{}]*([^\s,;|{}]+)(?:[ \t]*-[ \t]*((?:\d{1,3}\.){3}\d{1,3}|[\da-f]{0,4}:[\da-f:.]*)(?![^\s,;|{}]))?/i.exec(
        rest,
      ) ?? []
    const one = token === '' ? null : readAddress(last === undefined ? unquoted(token) : `${unquoted(token)}-${last}`)
    if (one === null) break
    entries.push(one)
    rest = rest.slice(whole.length)
  }
  return { found: entries, note: trimmed(rest, ' \t,;|{}') }
}

const isComment = (text: string): boolean => text === '' || /^(?:[#;!]|\/\/|--\s)/.test(text) || isSilent(text)
/** A line without its comment, and the comment. */
const parts = (text: string): { readonly bare: string; readonly comment: string; readonly mark: string } => {
  const mark = /#|\/\/|;/.exec(text)
  if (!mark) return { bare: text, comment: '', mark: '' }
  const comment = text
    .slice(mark.index)
    .replace(/^[#;/]+/, '')
    .trim()
  return { bare: text.slice(0, mark.index).trim(), comment, mark: mark[0] }
}

/** @returns null for a line that names no address and is no comment; nothing found in comments and blank lines. */
export const readLine = (line: string): ReadLine | null => {
  const text = line.replace(/^\ufeff/, '').trim()
  const plain = single(text)
  if (plain) return { found: [plain], note: '', comment: '' }
  if (isComment(text)) return { found: [], note: '', comment: '' }
  const { bare, comment, mark } = parts(text)
  // A semicolon begins a comment in some lists and parts the addresses in others.
  const parted = mark === ';' ? leading(text.split(/#|\/\//, 1)[0] ?? '') : null
  if (parted && parted.found.length > 1 && parted.note === '') return { ...parted, comment: '' }
  const pattern = beginnings.find(known => known.test(bare))
  const { found, note } = leading(pattern ? bare.replace(pattern, '') : bare)
  // Beside other words the first addresses are what the line is about.
  if (found.length > 0) return { found, note, comment }
  const behindName = addressOption(bare)
  const one = behindName === null ? firstCell(text) : readAddress(behindName)
  return one && { found: [one], note: '', comment }
}

/** Names of columns and fields, in small letters and without what parts their words. */
const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
const addressNames = new Set(
  'cidr ip ipaddress ipaddr addr address network subnet net prefix ipprefix ipv4prefix ipv6prefix ipv4 ipv6 range iprange value ioc indicator srcip sourceip remoteip clientip'.split(
    ' ',
  ),
)
const endNames = new Set(
  'expiresat expiration expirationdate expires expiry expirydate expire expireat expireson validuntil until'.split(' '),
)
const noteNames = new Set('description comment comments remark remarks note notes reason label name title'.split(' '))
/** What a column or a field holds, as its name tells; `end of another kind`: when an entry ends, in a form that is not read. */
export const kindOfField = (name: string): 'address' | 'note' | 'end' | 'end of another kind' | null => {
  const plain = plainName(name)
  if (addressNames.has(plain)) return 'address'
  if (noteNames.has(plain)) return 'note'
  if (endNames.has(plain)) return 'end'
  return /expir|until|valid|ttl|duration|lifetime|timeout|^end/.test(plain) ? 'end of another kind' : null
}

/** The first column of a table that is an address. */
const firstCell = (text: string): Found | null => {
  const cells = text.split(/[;,|\t]/, 100)
  if (cells.length < 2) return null
  for (const cell of cells) {
    const address = readAddress(unquoted(cell.trim()))
    if (address) return address
  }
  return null
}

/** Cells of a line of comma-separated values; quoted ones may hold what parts them. */
export const cellsOf = (line: string): string[] => {
  const comma = /^(?:"[^"]*"|[^",;\t])*([,;\t])/.exec(line)?.[1] ?? ','
  const cells: string[] = []
  for (let at = 0; at <= line.length && cells.length < 100;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(line.slice(at, at + 4096))
    const from = quoted ? at + quoted[0].length : at
    const end = line.indexOf(comma, from)
    const to = end < 0 ? line.length : end
    cells.push(quoted ? (quoted[1] ?? '').replaceAll('""', '"') : line.slice(at, to).trim())
    at = to + 1
  }
  return cells.map(cell => unquoted(cell.trim()))
}
