import { hostname } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import type { ReplyOf, siem as contract } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { iso, second } from '../../core/clock.ts'
import { uuid7 } from '../../core/ids.ts'
import { Problem, conflict, invalid } from '../../core/problem.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { StoreAccess } from '../../events/events.ts'
import { createReader } from '../../events/reader.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { BansService } from '../bans/bans.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createCanonical } from './canonical.ts'
import { createCollection } from './collection.ts'
import { createDestination } from './destination.ts'
import type { SiemEvent } from './event.ts'
import { createSiemFigures } from './figures.ts'
import type { SiemFigures } from './figures.ts'
import { datagramBytes, formatted, streamBytes } from './formats/formats.ts'
import type { Teller } from './formats/formats.ts'
import { Unreached } from './line.ts'
import type { Step } from './line.ts'
import { createReplays } from './replay.ts'
import type { Replays } from './replay.ts'
import { createSender } from './sender.ts'
import type { Sender } from './sender.ts'
import { createSiemSettings } from './siem-settings.ts'
import type { SiemSettingsService } from './siem-settings.ts'
import { askFlush, countWaiting, countsSince, forgetOld, forgetWaiting, readState } from './siem.store.ts'
import { tryOnce } from './transport.ts'

export interface SiemService extends SiemSettingsService, SiemFigures {
  /** Sends a test event, also while forwarding is off. @throws Problem 400 `Connection failed` */
  test(author: Author): Promise<ReplyOf<typeof contract.testSiem>>
  /** @throws Problem 409 while forwarding is off */
  flush(author: Author): Promise<ReplyOf<typeof contract.flushSiem>>
  discard(author: Author): Promise<ReplyOf<typeof contract.discardSiemQueue>>
  /** @throws Problem 409 while forwarding is off, or while too many run */
  replay: Replays['start']
  readReplay: Replays['read']
  /** Takes over what the stream of events brings. */
  collect(): Promise<void>
  /** Sends what is due. */
  send: Sender['run']
  yield: Sender['yield']
  sweep(): Promise<void>
  close: Sender['close']
}

/** How long a flush waits for the sending process, which may be another one. */
const flushWait = 15 * second

export const createSiem = (
  needs: StoreAccess & {
    settings: SettingsService
    secrets: Pick<Secrets, 'open' | 'seal' | 'digest'>
    outgoing: Outgoing
    bans: Pick<BansService, 'viewAt'>
    baseUrl: () => string
    version: string
    /** Whether a licence covers forwarding now. */
    licensed: () => boolean
    leads: Jobs['leads']
    log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  },
): SiemService => {
  const { db, clock, events, settings, secrets, outgoing } = needs
  const reader = createReader(db, 'siem')
  const canonical = createCanonical({ secrets, bans: needs.bans })
  const replays = createReplays({ db, clock, events, canonical })
  const destination = createDestination(needs)
  const { isOn, hindrance, plan } = destination
  const collect = createCollection({ ...needs, reader })

  const teller = (): Teller => {
    const site = URL.parse(needs.baseUrl())?.hostname.replace(/^\[|\]$/g, '') ?? 'localhost'
    return { host: site === 'localhost' ? hostname() : site, version: needs.version }
  }
  const sender = createSender({
    db,
    clock,
    outgoing,
    canonical,
    teller,
    plan,
    collect,
    replays,
    leads: needs.leads,
    log: needs.log,
  })

  /** Asks the sending process, which may be another one, for a flush, and waits for its end. */
  const flushQueue = async (author: Author): Promise<ReplyOf<typeof contract.flushSiem>> => {
    const sentBefore = (await countsSince(db.read, 0)).reduce((sum, row) => sum + row.sent, 0)
    const flushResult = await events.change(async change => {
      await change.record({ name: 'siem.flush', author })
      return askFlush(change.sql)
    })
    const until = performance.now() + flushWait
    while (performance.now() < until) {
      // Another process may be the one that sends; then this does nothing.
      await sender.run()
      const { flush_done, flush_sent, flush_failed } = await readState(db.read)
      if (flush_done >= flushResult) {
        const left = flush_failed === 0 ? 'Nothing waits any more.' : `${flush_failed} still wait.`
        return {
          message: `${flush_sent} events were sent. ${left}`,
          events_sent: flush_sent,
          events_failed: flush_failed,
        }
      }
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    const sent = (await countsSince(db.read, 0)).reduce((sum, row) => sum + row.sent, 0) - sentBefore
    const left = await countWaiting(db.read)
    return { message: 'Sending goes on.', events_sent: Math.max(0, sent), events_failed: left }
  }

  return {
    ...createSiemSettings({ ...needs, destination, reader, collect }),
    ...createSiemFigures({ ...needs, destination, canonical }),
    async test(author) {
      const now = clock()
      const event: SiemEvent = {
        id: uuid7(now),
        type: 'test',
        severity: 1,
        timestamp: iso(now),
        message: `Test event of ${settings.get('service.site_name')}, sent by ${author.name}`,
        server: null,
        actor: { username: author.name, ip: author.ip },
        data: {},
      }
      await events.change(change => change.record({ name: 'siem.test', author, data: { event_id: event.id } }))
      const steps: Step[] = []
      const fail = (message: string) =>
        new Problem(400, 'Connection failed', message, { reason: 'connection-failed', extra: { steps } })
      const target = destination.target()
      if (typeof target === 'string') throw fail(target)
      const message = formatted(target.format, event, teller(), target.way === 'udp' ? datagramBytes : streamBytes)
      try {
        await tryOnce(target, message, {
          outgoing,
          clock,
          note: step => steps.push(step),
          times: { answer: 10 * second },
        })
      } catch (error) {
        if (!(error instanceof Unreached)) throw error
        throw fail(`${failedStep[error.step]} failed: ${error.message.replace(/\.$/, '')}.`)
      }
      return { message: `The test event was sent. Look for ${event.id} there.`, event_id: event.id, steps }
    },
    async flush(author) {
      if (!isOn()) {
        if ((await countWaiting(db.read)) === 0)
          return { message: 'Nothing waits to be sent.', events_sent: 0, events_failed: 0 }
        throw conflict('Forwarding is off, and events wait. Enable it in the SIEM settings first.')
      }
      const why = hindrance()
      if (why !== null) throw conflict(why)
      return flushQueue(author)
    },
    async discard(author) {
      const events_discarded = await events.change(async change => {
        await change.record({ name: 'siem.discard', author, data: { events: await countWaiting(change.sql) } })
        return forgetWaiting(change.sql)
      })
      return { message: `${events_discarded} events were discarded.`, events_discarded }
    },
    async replay(author, input) {
      if (input.from > input.to) throw invalid('from', 'from must not be later than to.')
      if (!isOn()) throw conflict('Forwarding is off. Enable it in the SIEM settings first.')
      return replays.start(author, input)
    },
    readReplay: replays.read,
    collect,
    send: sender.run,
    yield: sender.yield,
    sweep: () => forgetOld(db.write, clock()),
    close: sender.close,
  }
}

const failedStep: Record<Step['name'], string> = {
  resolve: 'Resolving the host',
  connect: 'Connecting',
  tls: 'TLS',
  write: 'Writing',
  answer: 'The answer',
}
