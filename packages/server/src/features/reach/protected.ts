import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { neverBanned, privateNetworks, translatedNetworks } from '@stockade/contract/reach.ts'
import { SpanCollector, touches } from '@stockade/contract/spans.ts'
import type { Network, Spans } from '@stockade/contract/spans.ts'
import { day, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import { inSlices } from '../../core/slices.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { cutBy, protectedKinds, spansOfTexts } from './cut.ts'
import type { Cut, ProtectedKind, ProtectedParts } from './cut.ts'
import { usedByPeople } from './reach.store.ts'

/*
 * Whom a set of addresses would hit: what no list, feed, fleet ban or rule may hold. Lists and feeds cut it out, fleet bans and rules refuse it.
 */

export interface Protected {
  /** Names what is protected: another text means that every list must be cut again. */
  readonly version: string
  readonly parts: ProtectedParts
  /** The spans without what is protected, with the number of spans that each kind touched. */
  cut(spans: Spans): Cut
  /** The first kind that has an address in common; null: none. */
  hit(network: Network): ProtectedKind | null
  /** Whether a kind has an address in common. `unbannable`: what nobody bans, anywhere. Private addresses are somebody's attackers. */
  hits(network: Network, kind: ProtectedKind | 'unbannable'): boolean
}
const reserved = spansOfTexts([...neverBanned, ...privateNetworks, ...translatedNetworks])
const neverBannedSpans = spansOfTexts(neverBanned)
const translated = spansOfTexts(translatedNetworks)
/** A single address behind a translator is one attacker; a network of these may be all of IPv4. */
const isUnbannable = (network: Network): boolean =>
  touches(neverBannedSpans, network) || (network.prefix !== null && touches(translated, network))
/** IPv6 addresses of people change within their network. */
const networksOf = (addresses: readonly string[]): string[] =>
  addresses.flatMap(text => {
    const ip = parseIp(text)
    return ip ? [ip.bytes.length === 4 ? ip.text : `${ip.text}/64`] : []
  })

/** Addresses of people count for so long after a sign-in. */
const signInCounts = 30 * day
/** Whoever signs in is protected after so long. */
const peopleAge = 30 * second

export interface Protection {
  version(): Promise<string>
  now(): Promise<Protected>
}

export const createProtection = (needs: {
  readonly db: Pick<Database, 'read'>
  readonly clock: Clock
  readonly mirror: Pick<Mirror, 'version' | 'render'>
  readonly registry: Pick<Registry, 'all'>
  /** Host of the address under which users and agents reach this server. */
  readonly baseUrl: () => string
}): Protection => {
  const { db, clock, mirror, registry } = needs
  let whitelist: { readonly version: string; readonly spans: Spans } | null = null
  let last: Protected | null = null
  let people: { readonly at: number; readonly addresses: readonly string[] } | null = null

  const whitelisted = async (): Promise<Spans> => {
    const { version, plain } = await mirror.render()
    if (whitelist?.version !== version) {
      const collector = new SpanCollector()
      await inSlices(plain.toString('utf8').split('\n'), line => {
        const range = line.startsWith('#') || line === '' ? null : parseRange(line)
        if (range) collector.add(range)
      })
      whitelist = { version, spans: collector.spans() }
    }
    return whitelist.spans
  }
  const ofPeople = async (): Promise<readonly string[]> => {
    const now = clock()
    if (people === null || Math.abs(now - people.at) >= peopleAge) {
      const addresses = [...new Set(networksOf(await usedByPeople(db.read, now - signInCounts)))].sort()
      people = { at: now, addresses }
    }
    return people.addresses
  }
  const ownAddresses = (): string[] => {
    const host = URL.parse(needs.baseUrl())?.hostname.replace(/^\[|\]$/g, '') ?? ''
    const bound = Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(({ address }) => address))
    return [...bound, host].flatMap(text => parseIp(text)?.text ?? []).sort()
  }
  const look = async () => {
    const texts = {
      own: ownAddresses(),
      managed: registry
        .all()
        .flatMap(({ row }) => row.ip_address ?? [])
        .sort(),
      people: await ofPeople(),
    }
    const digest = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16)
    return { texts, version: `${mirror.version()} ${digest}` }
  }

  return {
    version: async () => (await look()).version,
    async now() {
      const { texts, version } = await look()
      if (last?.version === version) return last
      const parts: ProtectedParts = {
        private: reserved,
        whitelisted: await whitelisted(),
        own: spansOfTexts(texts.own),
        managed: spansOfTexts(texts.managed),
        people: spansOfTexts(texts.people),
      }
      last = {
        version,
        parts,
        cut: spans => cutBy(parts, spans),
        hit: network => protectedKinds.find(kind => touches(parts[kind], network)) ?? null,
        hits: (network, kind) => (kind === 'unbannable' ? isUnbannable(network) : touches(parts[kind], network)),
      }
      return last
    },
  }
}
