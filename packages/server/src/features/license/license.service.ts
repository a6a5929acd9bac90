import type { LicenceFeature, ReplyOf, settings as contract } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { system } from '../../core/author.ts'
import { iso, isoOrNull, minute } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import { conflict, invalid, paymentRequired } from '../../core/problem.ts'
import type { Problem } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { BadLicence, issueLicence, readLicence, tidy, tierFeatures, tierLimits } from './document.ts'
import type { Licence } from './document.ts'
import { countServers, keepAuthority, keepKey, keepSeen, lockLicence, readKept } from './license.store.ts'
import type { Kept } from './license.store.ts'
import { ownAuthority } from './own-authority.ts'

type Reading = ReplyOf<typeof contract.getLicense>

export interface LicenseService {
  read(): Promise<Reading>
  /** Takes a licence over. @throws Problem 400 when it is none for this server; nothing changes then. */
  activate(author: Author, key: string): Promise<ReplyOf<typeof contract.activateLicense>>
  /**
   * Makes this installation its own authority, and activates a licence of it for so many servers.
   * @throws Problem 409 where the environment names another authority
   */
  issueOwn(author: Author, servers: number): Promise<ReplyOf<typeof contract.issueOwnLicense>>
  /** Why the feature can't be used, or null. */
  refusal(feature: LicenceFeature): Problem | null
  /** Whether one more server may be added, decided within the change that adds it. @throws Problem 402 */
  admit(change: Pick<Change, 'sql'>): Promise<void>
  /** What another process activated. */
  reload(): Promise<void>
  /** Remembers the time, so that a clock that is set back does not revive what has expired. To be called every minute. */
  observe(): Promise<void>
}

const authorityMissing =
  'This server trusts no licence authority. Set STOCKADE_LICENSE_PUBLIC_KEY to the public key of yours and restart it; "stockade license keygen" makes a pair.'
/** A clock that is this far ahead of ours may have issued a licence. */
const skew = 24 * 60 * minute
/** The time is written down this often. */
const seenEvery = 10 * minute

/**
 * @param needs.key the licence that the environment names; one that is newer and was activated by hand stays in force.
 * @throws BadLicence when that licence is none for this server. An expired one never stops a start.
 */
export const createLicense = async (
  needs: StoreAccess & {
    publicKey: string | null
    key: string | null
    dataDir: string
    siteName: () => string
    log: { warn(message: string): void }
  },
): Promise<LicenseService> => {
  const { db, clock, events } = needs
  /** That of the environment; without one, the installation's own. */
  let publicKey = needs.publicKey
  let stored: { licence: Licence | null; key: string | null } = { licence: null, key: null }
  let lastSeenAt = 0
  let looked = clock()

  const opened = (key: string): Licence | null => {
    try {
      return publicKey === null ? null : readLicence(key, publicKey)
    } catch (error) {
      if (error instanceof BadLicence) return null
      throw error
    }
  }
  const take = ({ key, authority }: Pick<Kept, 'key' | 'authority'>) => {
    const trusted = needs.publicKey ?? authority
    if (key === stored.key && trusted === publicKey) return
    publicKey = trusted
    stored = { key, licence: key === null ? null : opened(key) }
  }
  const ownWay =
    needs.publicKey === null
      ? ' This installation can issue its own: stockade license self --servers N, or POST /api/v1/settings/license/self.'
      : ''
  const now = () => Math.max(clock(), lastSeenAt)
  const isOver = (licence: Licence, at: number) => licence.expiresAt !== null && licence.expiresAt <= at
  /** The one that counts now; null: as without any. */
  const inForce = (): Licence | null => (stored.licence && !isOver(stored.licence, now()) ? stored.licence : null)
  const features = () => tierFeatures[inForce()?.tier ?? 'personal']
  const limit = () => inForce()?.serverLimit ?? tierLimits.personal

  const latest = createLatest()
  const reload = () =>
    latest(
      () => readKept(db.read),
      kept => {
        take(kept)
        lastSeenAt = kept.seen
      },
    )
  /** Under the lock: what it compares with is what is stored, not what this process remembers. */
  const store = async (
    author: Author,
    key: string,
    licence: Licence,
    older: 'replace' | 'keep',
    authority: string | null = null,
  ): Promise<void> => {
    await events.change(async change => {
      await lockLicence(change.sql, db.engine)
      const storedLicence = await readKept(change.sql)
      if (storedLicence.key === key) return
      const before = storedLicence.key === null ? null : opened(storedLicence.key)
      const isNewer = before === null || licence.issuedAt > before.issuedAt
      if (older === 'keep' && before !== null && (!isNewer || isOver(licence, clock()))) return
      await keepKey(change.sql, key)
      if (authority !== null) await keepAuthority(change.sql, authority)
      // The authority signed it later than the one before: a clock that once ran ahead is forgiven.
      if (isNewer && before !== null) await keepSeen(change.sql, clock())
      await change.record({
        name: 'license.activate',
        author,
        data: {
          id: licence.id,
          tier: licence.tier,
          server_limit: licence.serverLimit,
          registered_to: tame(licence.registeredTo, 1000),
          expires_at: isoOrNull(licence.expiresAt),
        },
      })
    })
    await reload()
  }

  await reload()
  if (needs.key !== null) {
    if (publicKey === null) throw new BadLicence(authorityMissing)
    const key = tidy(needs.key)
    const licence = readLicence(key, publicKey)
    await store(system, key, licence, 'keep')
  }
  if (stored.key !== null && stored.licence === null)
    needs.log.warn(
      'the stored licence is not signed by the authority that STOCKADE_LICENSE_PUBLIC_KEY names; none counts',
    )
  else if (stored.licence && !inForce())
    needs.log.warn(
      `the licence expired on ${iso(stored.licence.expiresAt ?? 0)}; what runs goes on, new servers are refused`,
    )

  return {
    reload,
    async read() {
      const { licence } = stored
      const current = inForce()
      return {
        tier: current?.tier ?? 'personal',
        server_limit: limit(),
        servers_used: await countServers(db.read),
        features: features(),
        expires_at: isoOrNull(licence?.expiresAt ?? null),
        registered_to: licence?.registeredTo ?? null,
        state: current ? 'active' : licence ? 'expired' : stored.key === null ? 'none' : 'invalid',
        authority_set: publicKey !== null,
        self_issue: needs.publicKey === null,
      }
    },
    async activate(author, typed) {
      if (publicKey === null) throw invalid('license_key', authorityMissing)
      const key = tidy(typed)
      let licence: Licence
      try {
        licence = readLicence(key, publicKey)
      } catch (error) {
        throw error instanceof BadLicence ? invalid('license_key', error.message) : error
      }
      await reload()
      const isNewer = stored.licence !== null && licence.issuedAt > stored.licence.issuedAt
      const at = isNewer ? clock() : now()
      if (isOver(licence, at))
        throw invalid('license_key', `This licence expired on ${iso(licence.expiresAt ?? 0)}. Nothing was changed.`)
      if (licence.issuedAt > at + skew)
        throw invalid(
          'license_key',
          `This licence was issued on ${iso(licence.issuedAt)}, but here it is ${iso(at)}: set this server's clock.`,
        )
      await store(author, key, licence, 'replace')
      return { message: 'The licence is active.', tier: licence.tier, server_limit: limit(), features: features() }
    },
    async issueOwn(author, servers) {
      if (needs.publicKey !== null)
        throw conflict(
          'STOCKADE_LICENSE_PUBLIC_KEY names the authority of this server. Activate a licence of it instead.',
        )
      const authority = ownAuthority(needs.dataDir)
      const key = issueLicence(authority.privateKey, {
        tier: 'pro',
        serverLimit: servers,
        registeredTo: needs.siteName(),
        issuedAt: now(),
        expiresAt: null,
      })
      await store(author, key, readLicence(key, authority.publicKey), 'replace', authority.publicKey)
      return { message: 'The licence is active.', tier: 'pro', server_limit: limit(), features: features() }
    },
    refusal(feature) {
      if (features()[feature]) return null
      return paymentRequired(
        stored.licence && !inForce()
          ? `This needs a Pro licence; yours expired on ${iso(stored.licence.expiresAt ?? 0)}. An administrator can activate another: POST /api/v1/settings/license.${ownWay}`
          : `This needs a Pro licence. An administrator can activate one: POST /api/v1/settings/license.${ownWay}`,
      )
    },
    async admit(change) {
      await lockLicence(change.sql, db.engine)
      const used = await countServers(change.sql)
      if (used < limit()) return
      throw paymentRequired(
        `The licence covers ${limit()} servers, and ${used} are registered. Delete one, or activate a larger licence: POST /api/v1/settings/license.${ownWay}`,
      )
    },
    async observe() {
      const at = clock()
      // A time counts once it has held from one look to the next: a clock that is wrong for a moment after booting is not believed.
      const latestMoment = Math.min(at, looked + 2 * minute)
      looked = at
      const justOver =
        stored.licence !== null && isOver(stored.licence, latestMoment) && !isOver(stored.licence, lastSeenAt)
      if (latestMoment < lastSeenAt + seenEvery && !justOver) return
      await db.write.transaction().execute(async sql => {
        await lockLicence(sql, db.engine)
        const storedLicence = await readKept(sql)
        if (latestMoment > storedLicence.seen) await keepSeen(sql, latestMoment)
      })
      await reload()
    },
  }
}
