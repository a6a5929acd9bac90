import { isIP } from 'node:net'
import { bounds } from '@stockade/contract/limits.ts'
import type { Passkey, PasskeyResponse } from '@stockade/contract'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { writeOperatorKey } from '@stockade/contract/seal.ts'
import { authorOf } from '../../core/author.ts'
import type { UserActor } from '../../core/actor.ts'
import { iso, isoOrNull, minute } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { conflict, notFound, unauthorized } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { findUser } from '../users/users.store.ts'
import type { UserRow } from '../users/users.store.ts'
import { fingerprintOf } from './fingerprint.ts'
import {
  findPasskey,
  insertChallenge,
  insertPasskey,
  noteUse,
  passkeysOf,
  removeChallengesBefore,
  removePasskey,
  removePasskeysOf,
  renamePasskey,
  takeChallenge,
} from './passkeys.store.ts'
import type { PasskeyRow, Purpose } from './passkeys.store.ts'

const challengeLife = 5 * minute
/** The library and its readers of ASN.1 take megabytes, so they are loaded on first use. */
const library = () => import('@simplewebauthn/server')
/** ES256, EdDSA and RS256 (RFC 9053): what browsers offer, and what agents verify. */
const algorithms = [-7, -8, -257]

type Options = { options: Record<string, unknown> }

export interface PasskeysService {
  list(actor: UserActor): Promise<Passkey[]>
  prepare(actor: UserActor): Promise<Options>
  add(actor: UserActor, name: string, response: PasskeyResponse): Promise<Passkey>
  rename(actor: UserActor, id: number, name: string): Promise<Passkey>
  remove(actor: UserActor, id: number): Promise<void>
  /** Inside a change: takes all passkeys off a user, for an administrator's reset. */
  clear(change: Change, userId: number): Promise<void>
  /** What a browser asks a passkey with: one of that user, or any of this site for null. */
  begin(purpose: Purpose, user: UserRow | null): Promise<Options>
  /**
   * Whose passkey answered, after its signature, its site and its user's verification were checked. Each challenge is answered once.
   * @throws Problem 401 for anything else, also where it is another user's than `userId`.
   */
  verify(purpose: Purpose, response: PasskeyResponse, userId: number | null): Promise<UserRow>
  /** The site that passkeys belong to; null where browsers know no passkeys under this base URL. */
  siteOrNull(): { rp_id: string; origin: string } | null
  sweep(): Promise<void>
}

export const createPasskeys = (
  needs: StoreAccess & {
    settings: Pick<SettingsService, 'get'>
    baseUrl: () => string
  },
): PasskeysService => {
  const { db, clock, events, settings, baseUrl } = needs

  const site = () => {
    const { hostname, origin } = new URL(baseUrl())
    if (!isKnownToBrowsers(baseUrl()))
      throw conflict(
        `Browsers know passkeys only of a name under https, or of localhost; the base URL is ${origin}. Set it to https with a name first.`,
      )
    return { rp_id: hostname, origin }
  }
  const view = (user: string, row: PasskeyRow): Passkey => {
    const { hostname, origin } = new URL(baseUrl())
    const name = `${user}: ${row.name}`.replace(/[^\x20-\x7e]/g, '_').slice(0, 64)
    return {
      id: row.id,
      credential_id: row.credential_id,
      name: row.name,
      created_at: iso(row.created_at),
      last_used: isoOrNull(row.last_used),
      backed_up: row.backed_up === 1,
      fingerprint: fingerprintOf(row.spki),
      operator_key: writeOperatorKey({ kind: 'webauthn', name, spki: row.spki, rp_id: hostname, origin }),
    }
  }
  const eventData = (row: PasskeyRow) => ({ user_id: row.user_id, passkey_id: row.id, name: row.name })
  const keep = async (purpose: Purpose, challenge: string, userId: number | null) => {
    await insertChallenge(db.write, { hash: sha256(challenge), purpose, user_id: userId, created_at: clock() })
  }
  const refused = (reason: string) => unauthorized(`This passkey was not accepted: ${reason}.`)
  /** The challenge that a response answers, used up, and for whom it was made. */
  const answered = async (purpose: Purpose, response: PasskeyResponse) => {
    const challenge = challengeOf(response)
    const row = await takeChallenge(db.write, sha256(challenge), purpose, clock() - challengeLife)
    if (!row) throw refused('it answers nothing that was asked in the last five minutes, or it answered before')
    return { challenge, userId: row.user_id }
  }
  const registered = async (response: PasskeyResponse, challenge: string) => {
    const { rp_id, origin } = site()
    const { verifyRegistrationResponse } = await library()
    const checked = await verifyRegistrationResponse({
      response: response as never,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rp_id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    }).catch((error: unknown) => {
      throw refused(wordsOf(error))
    })
    if (!checked.verified) throw refused('its attestation is not good')
    return checked.registrationInfo
  }

  return {
    siteOrNull: () => (isKnownToBrowsers(baseUrl()) ? site() : null),
    async list(actor) {
      return (await passkeysOf(db.read, actor.userId)).map(row => view(actor.name, row))
    },
    async prepare(actor) {
      const ownPasskeys = await passkeysOf(db.read, actor.userId)
      if (ownPasskeys.length >= bounds.passkeysPerUser)
        throw conflict(`You have ${ownPasskeys.length} passkeys, which is the most. Remove one first.`)
      const { generateRegistrationOptions } = await library()
      const options = await generateRegistrationOptions({
        rpName: settings.get('service.site_name'),
        rpID: site().rp_id,
        userName: actor.name,
        userID: new TextEncoder().encode(`stockade-user-${actor.userId}`),
        excludeCredentials: ownPasskeys.map(credentialOf),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: algorithms,
      })
      await keep('add', options.challenge, actor.userId)
      return { options: { ...options } }
    },
    async add(actor, name, response) {
      const { challenge, userId } = await answered('add', response)
      if (userId !== actor.userId) throw refused('it was made for another user')
      const { credential, credentialBackedUp } = await registered(response, challenge)
      if (await findPasskey(db.read, credential.id)) throw conflict('This passkey is known already.')
      const { spkiOf } = await import('./cose.ts')
      const spki = spkiOf(credential.publicKey)
      const row = await events.change(async change => {
        const { row, count } = await insertPasskey(change.sql, {
          user_id: actor.userId,
          credential_id: credential.id,
          public_key: Buffer.from(credential.publicKey).toString('base64url'),
          spki,
          counter: credential.counter,
          transports: jsonText(response.response.transports ?? []),
          name: tame(name, bounds.passkeyName * 4),
          backed_up: credentialBackedUp ? 1 : 0,
          created_at: clock(),
          last_used: null,
        })
        if (count > bounds.passkeysPerUser) throw conflict('You have too many passkeys. Remove one first.')
        await change.record({ name: 'passkey.create', author: authorOf(actor), data: eventData(row) })
        return row
      })
      return view(actor.name, row)
    },
    async rename(actor, id, name) {
      const row = await events.change(async change => {
        const row = await renamePasskey(change.sql, actor.userId, id, tame(name, bounds.passkeyName * 4))
        if (!row) throw notFound(`You have no passkey ${id}.`)
        await change.record({ name: 'passkey.update', author: authorOf(actor), data: eventData(row) })
        return row
      })
      return view(actor.name, row)
    },
    async remove(actor, id) {
      await events.change(async change => {
        const row = await removePasskey(change.sql, actor.userId, id)
        if (!row) throw notFound(`You have no passkey ${id}.`)
        await change.record({ name: 'passkey.delete', author: authorOf(actor), data: eventData(row) })
      })
    },
    clear: (change, userId) => removePasskeysOf(change.sql, userId),
    async begin(purpose, user) {
      const userPasskeys = user ? await passkeysOf(db.read, user.id) : []
      if (user && userPasskeys.length === 0) throw conflict('This account has no passkey.')
      const { generateAuthenticationOptions } = await library()
      const options = await generateAuthenticationOptions({
        rpID: site().rp_id,
        userVerification: 'required',
        allowCredentials: userPasskeys.map(credentialOf),
      })
      await keep(purpose, options.challenge, user?.id ?? null)
      return { options: { ...options } }
    },
    async verify(purpose, response, userId) {
      const challenge = await answered(purpose, response)
      const row = await findPasskey(db.read, response.id)
      const user = row && (await findUser(db.read, row.user_id))
      if (!row || !user) throw refused('it is not known here')
      const owners = [challenge.userId, userId].filter(id => id !== null)
      if (owners.some(id => id !== user.id)) throw refused('it belongs to another account')
      const { rp_id, origin } = site()
      const { verifyAuthenticationResponse } = await library()
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: response as never,
        expectedChallenge: challenge.challenge,
        expectedOrigin: origin,
        expectedRPID: rp_id,
        requireUserVerification: true,
        credential: {
          id: row.credential_id,
          publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
          counter: row.counter,
        },
      }).catch((error: unknown) => {
        throw refused(wordsOf(error))
      })
      if (!verified) throw refused('its signature is wrong')
      const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo
      if (!(await noteUse(db.write, row, { counter, backedUp, at: clock() })))
        throw refused('it was used in the same moment elsewhere')
      return user
    },
    sweep: () => removeChallengesBefore(db.write, clock() - challengeLife),
  }
}

/** WebAuthn wants a domain name in a secure context: https, or localhost. */
const isKnownToBrowsers = (baseUrl: string): boolean => {
  const { hostname, protocol } = new URL(baseUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  return (protocol === 'https:' || isLocal) && isIP(hostname.replace(/^\[|\]$/g, '')) === 0
}
const credentialOf = (row: PasskeyRow) => ({ id: row.credential_id, transports: [...parseJson(row.transports)] })
/** The challenge that a browser says it answered; whether that is so, its signature tells. */
const challengeOf = (response: PasskeyResponse): string => {
  try {
    const client = recordOf(JSON.parse(Buffer.from(response.response.clientDataJSON, 'base64url').toString('utf8')))
    return String(client.challenge)
  } catch {
    return ''
  }
}
const wordsOf = (error: unknown) =>
  tame(error instanceof Error ? error.message : 'it is malformed', 300).replace(/\.$/, '')
