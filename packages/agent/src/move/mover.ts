import { checkBaseUrl, loadIdentity, refusePlainHttp } from '../config.ts'
import type { Identity } from '../config.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { oneOffTransport } from '../one-off.ts'
import type { Options } from '../options.ts'
import { cleanText, errorText } from '../text.ts'
import { ServerError } from '../transport.ts'
import type { Transport } from '../transport.ts'
import type { DesiredMove } from '../replies.ts'
import { proveAddress } from './challenge.ts'
import { fixedUrl, heldPlace, readMove, removeMove, saveMove } from './record.ts'
import type { MoveRecord, MoveReport, Place } from './record.ts'

/** Milliseconds at the usual pace: how long a new address is on trial, and the wait before a failed one is tried again. */
const trialTime = 600_000
const retryTime = 600_000
/** Random extra milliseconds after `Retry-After`, at most: hosts behind one address share a rate limit. */
const busyTime = 60_000
/** So many heartbeats must be answered on trial. */
const trialAnswers = 3
/** Without an answer for so long, after a failure, the host goes back: milliseconds, and at least three heartbeats. */
const silenceTime = 90_000

/** Brings the host to the address that the server orders, or back. */
export interface Mover {
  /** The server wants this address; null: it orders none. */
  want(order: DesiredMove | null): void
  /** What became of the order; undefined where there is nothing to say. */
  report(): MoveReport | undefined
  /** A heartbeat was answered (null), or failed. */
  heard(error: unknown): void
  /** Goes on with what is due. Called each second. */
  tick(): Promise<void>
  /** The address in use. */
  url(): string
}

export const createMover = (needs: {
  options: Pick<Options, 'config' | 'state' | 'checkPace'>
  /** With the address that holds now. */
  identity: Identity
  transport: Pick<Transport, 'redirect'>
  /** Seconds between two heartbeats. */
  interval: () => number
  /** The report is another one, perhaps at another address. */
  changed: () => void
  log: Log
}): Mover => {
  const { options, identity, transport, changed, log } = needs
  // Nobody sets this clock.
  const now = (): number => performance.now()
  const stored = loadIdentity(options.config)
  const home: Place = { url: identity.base_url, pins: identity.pins }
  const fixed = fixedUrl(process.env)
  let record = readMove(options.state, stored)
  /** The address on trial or moved to in this run; null: the one that the agent started with. */
  let place: Place | null = null
  let isBusy = false
  let nextTryAt = -Infinity
  let trialSince = 0
  let answeredAt = 0
  let answers = 0
  let failure: string | null = null
  /** The address that answered on a trial which the server broke off, until the one before answers too. */
  let left: Place | null = null
  // A trial ends with the process: it starts with the address that holds, and tries again.
  if (record?.state === 'trying') record = { ...record, state: 'ordered' }

  /** The address without an order. */
  const present = (): Place => (fixed === null ? heldPlace(record) : null) ?? home

  const unsaved = createOnce(log.warn)
  /** Answers whether the record is on the disk. Without that an order is only tried again after the next start. */
  const keep = (next: MoveRecord | null): boolean => {
    record = next
    try {
      if (next === null) removeMove(options.state)
      else saveMove(options.state, next)
      unsaved.over()
      return true
    } catch (error) {
      unsaved.tell(`move.json cannot be written: ${errorText(error)}`)
      return false
    }
  }
  const use = (next: Place | null): void => {
    place = next
    trialSince = now()
    answeredAt = trialSince
    answers = 0
    failure = null
    const { url, pins } = next ?? present()
    transport.redirect({ baseUrl: url, pins })
  }
  const fail = (mine: MoveRecord, reason: string): void => {
    const text = cleanText(reason).slice(0, 1000)
    const isNews = mine.state !== 'failed' || mine.reason !== text
    if (!isNews) return
    log.warn(`this host stays at ${url()}: ${text}`)
    keep({ ...mine, state: 'failed', reason: text })
    changed()
  }
  const url = (): string => (place ?? present()).url

  /** Proves the address and tries this host's key there. @throws Error with a sentence */
  const probe = async (baseUrl: string): Promise<readonly string[]> => {
    refusePlainHttp(baseUrl, identity.insecure_http)
    const { ca, proxy, api_key: apiKey } = identity
    const expectedPins = baseUrl.startsWith('https:') ? present().pins : []
    const pins = await proveAddress({ baseUrl, ca, pins: expectedPins, proxy }, identity, true)
    const once = oneOffTransport({ baseUrl, apiKey, ca, pins, proxy })
    try {
      await once.json('GET', '/api/v1/agent/state', { timeout: 10_000 })
    } finally {
      once.close()
    }
    return pins
  }
  const attempt = async (mine: MoveRecord): Promise<void> => {
    nextTryAt = now() + retryTime * options.checkPace
    try {
      const target = checkBaseUrl(mine.url)
      if (target === present().url) return settle({ ...mine, ...present() })
      if (fixed !== null) throw new Error(`STOCKADE_BASE_URL of this host is ${fixed}, which wins`)
      const pins = await probe(target)
      // Another order came meanwhile, or none is left.
      if (record !== mine) return
      keep({ ...mine, url: target, pins, state: 'trying', reason: null })
      log.info(`the server proved itself at ${target}: this address is on trial`)
      use({ url: target, pins })
      changed()
    } catch (error) {
      if (record !== mine) return
      const patience = patienceOf(error)
      if (patience === null) fail(mine, errorText(error))
      else nextTryAt = now() + patience + Math.random() * busyTime * options.checkPace
    }
  }
  const settle = (mine: MoveRecord): void => {
    if (!keep({ ...mine, state: 'moved', reason: null, held: null })) {
      // After a restart the host would be at the address before: it says that it moved once that is certain.
      record = mine
      return
    }
    left = null
    log.info(`this host reaches the server at ${mine.url} from now on`)
    changed()
  }
  const isSilent = (): boolean =>
    failure !== null && now() - answeredAt >= Math.max(silenceTime * options.checkPace, 3000 * needs.interval())
  const judgeTrial = (mine: MoveRecord): void => {
    if (failure !== null) {
      if (!isSilent()) return
      const reason = `${mine.url} stopped answering on trial: ${failure}`
      use(null)
      nextTryAt = now() + retryTime * options.checkPace
      fail(mine, reason)
      return
    }
    const isFresh = now() - answeredAt < 2000 * needs.interval()
    const isLongEnough = answers >= trialAnswers && now() - trialSince >= trialTime * options.checkPace
    if (isFresh && isLongEnough) settle(mine)
  }
  /** Leaves an order that did not end; what the host moved to before stays. */
  const drop = (mine: MoveRecord, next: MoveRecord | null): void => {
    const { held } = mine
    const before =
      held === null ? null : { ...mine, ...held, revision: 1, state: 'moved' as const, reason: null, held: null }
    keep(next ?? before)
    if (mine.state !== 'trying') return
    log.info('the server gave another order during the trial: this host goes back')
    if (answers > 0) left = place
    use(null)
  }
  /** The address before the trial is gone: the host stays where the server answered, or nobody would reach it again. */
  const holdLeft = (place: Place): void => {
    left = null
    nextTryAt = -Infinity
    const { server_id: serverId, base_url: from } = stored
    const alone = { ...place, revision: 1, state: 'moved' as const, reason: null, held: null, serverId, from }
    log.warn(`${url()} does not answer any more: this host returns to ${place.url}`)
    keep(record === null || record.state === 'moved' ? alone : { ...record, held: place })
    use(null)
  }

  return {
    want(order) {
      if (order === null) {
        if (record && record.state !== 'moved') drop(record, null)
        return
      }
      if (order.revision === record?.revision) return
      nextTryAt = -Infinity
      const next: MoveRecord = {
        ...order,
        pins: [],
        state: 'ordered',
        reason: null,
        held: heldPlace(record),
        serverId: stored.server_id,
        from: stored.base_url,
      }
      if (record) drop(record, next)
      else keep(next)
    },
    report() {
      if (!record || record.state === 'ordered') return undefined
      const { revision, state, reason } = record
      return { revision, state, reason }
    },
    heard(error) {
      if (error === null) {
        answeredAt = now()
        answers += 1
        failure = null
        if (place === null) left = null
      } else failure = errorText(error)
    },
    async tick() {
      if (left !== null && record?.state !== 'trying' && isSilent()) holdLeft(left)
      if (isBusy || !record) return
      isBusy = true
      try {
        const { state } = record
        if (state === 'trying') judgeTrial(record)
        else if (state !== 'moved' && now() >= nextTryAt) await attempt(record)
      } finally {
        isBusy = false
      }
    },
    url,
  }
}

/** Milliseconds that the server itself wants the host to wait; null where the address is no good. */
const patienceOf = (error: unknown): number | null =>
  error instanceof ServerError && error.spoken && (error.status === 429 || error.status === 503)
    ? (error.retryAfter ?? 0)
    : null
