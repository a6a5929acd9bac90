import { Resolver } from 'node:dns/promises'
import { domainToASCII } from 'node:url'
import { codeOf, errorText } from '@stockade/contract/error-code.ts'
import { bounds } from '@stockade/contract/limits.ts'
import { whyNotListedByName } from '@stockade/contract/reach.ts'
import { parseIp } from '../../core/ip.ts'

/** Letters, digits and what joins them; so no control character, no `%2e`, and nothing that only looks like a dot. */
const nameCharacters = /^[\p{L}\p{M}\p{N}._-]+$/u
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * A DNS name in its one form: ASCII (IDNA), lower case, without the last dot. Null for what is none, for a name without a dot, and for an address
 * in any of its forms.
 */
export const dnsNameOf = (typed: string): string | null => {
  if (typed.length > 1000 || !nameCharacters.test(typed)) return null
  const name = domainToASCII(typed.replace(/\.$/, ''))
  if (name.length === 0 || name.length > 253) return null
  const labels = name.split('.')
  // A last label of digits is an IPv4 address to some reader.
  return labels.length > 1 && labels.every(part => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '') ? name : null
}

/** What one family of addresses of a name answered. */
export type FamilyAnswer =
  | { readonly addresses: readonly string[]; readonly ttl: number }
  /** In words. */
  | { readonly error: string }
export interface NameAnswer {
  readonly v4: FamilyAnswer
  readonly v6: FamilyAnswer
}
export type ResolveName = (name: string) => Promise<NameAnswer>

/** Milliseconds for both families; c-ares asks each server twice before. */
const timeLimit = 8000
const errorWords: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name does not exist',
  ESERVFAIL: 'the DNS server failed',
  EREFUSED: 'the DNS server refused',
  ETIMEOUT: 'no DNS server answered in time',
  ECONNREFUSED: 'no DNS server can be reached',
  ECANCELLED: 'no DNS server answered in time',
  EBADRESP: 'the DNS server answered nonsense',
  EFORMERR: 'the DNS server answered nonsense',
  EBADNAME: 'the name is no DNS name',
}
const noRecords = { addresses: [], ttl: Infinity }

/** Asks DNS itself, so that neither a hosts file nor a search domain decides who is whitelisted. CNAMEs are followed by the DNS server. */
export const createNameResolver =
  (servers: readonly string[] | null): ResolveName =>
  async name => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 })
    if (servers) resolver.setServers(servers)
    const family = (records: Promise<readonly { readonly address: string; readonly ttl: number }[]>) =>
      records.then(
        (list): FamilyAnswer => ({
          addresses: list.map(({ address }) => address),
          ttl: Math.min(...list.map(({ ttl }) => ttl)),
        }),
        (error: unknown): FamilyAnswer =>
          codeOf(error) === 'ENODATA' ? noRecords : { error: errorWords[codeOf(error) ?? ''] ?? errorText(error) },
      )
    const late = setTimeout(() => resolver.cancel(), timeLimit)
    try {
      const [v4, v6] = await Promise.all([
        family(resolver.resolve4(name, { ttl: true })),
        family(resolver.resolve6(name, { ttl: true })),
      ])
      return { v4, v6 }
    } finally {
      clearTimeout(late)
    }
  }

/** What an answer means for a name. */
export interface Judgement {
  /** The addresses that the name has now, canonical and in order; null: those of before stay. */
  readonly addresses: readonly string[] | null
  /** Why nothing was taken, or why only one family was. */
  readonly error: string | null
  /** The answer was refused for what it holds: somebody may have redirected the name. */
  readonly isRefused: boolean
  /** Milliseconds until the next look-up. */
  readonly pause: number
}

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

const { interval, addresses: mostAddresses } = bounds.whitelistNames
const refusedAnswer = (error: string): Judgement => ({
  addresses: null,
  error,
  isRefused: true,
  pause: interval.minimum * 1000,
})

/**
 * Judges an answer: a family that failed keeps its addresses of before. All of it is refused when one address is not public, or when there are more
 * than the bound: what a name with such an answer leads to, nobody meant to whitelist.
 */
export const judgeAnswer = ({ v4, v6 }: NameAnswer, before: readonly string[]): Judgement => {
  const keptOf = (isFamily: (address: string) => boolean, answer: FamilyAnswer) =>
    'error' in answer ? before.filter(isFamily) : answer.addresses
  const errors = [v4, v6].flatMap(answer => ('error' in answer ? [answer.error] : []))
  if (errors.length === 2)
    return { addresses: null, error: sentence(errors[0] ?? ''), isRefused: false, pause: interval.minimum * 1000 }
  const addressSet = new Set<string>()
  for (const text of [...keptOf(ip => !ip.includes(':'), v4), ...keptOf(ip => ip.includes(':'), v6)]) {
    const ip = parseIp(text)
    const refusal = ip ? whyNotListedByName(ip) : 'is no address'
    if (!ip || refusal !== null) return refusedAnswer(`The name is at ${text.slice(0, 64)}, which ${refusal}.`)
    addressSet.add(ip.text)
  }
  if (addressSet.size > mostAddresses)
    return refusedAnswer(`The name has ${addressSet.size} addresses, and ${mostAddresses} are taken at most.`)
  const [error] = errors
  if (addressSet.size === 0)
    return {
      addresses: null,
      error: sentence(error ?? 'the name has no address'),
      isRefused: false,
      pause: interval.minimum * 1000,
    }
  const ttl = Math.min(...[v4, v6].map(answer => ('error' in answer ? 0 : answer.ttl)))
  return {
    addresses: [...addressSet].sort(),
    error: error === undefined ? null : `${'error' in v4 ? 'IPv4' : 'IPv6'}: ${error}.`,
    isRefused: false,
    pause: Math.min(interval.maximum, Math.max(interval.minimum, ttl)) * 1000,
  }
}
