import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { knockEventId } from '../event-id.ts'
import { readJson, readText, removeDurably, writeDurably } from '../files.ts'
import { asFields, asList, asText } from '../json.ts'
import { createOnce, type Log } from '../log.ts'
import type { Entry } from '../outbox.ts'
import { errorText } from '../text.ts'
import type { Addresses } from '../whitelist/addresses.ts'
import type { KnockAcknowledgement } from '../wire.ts'
import { createMembers, type Member, type Members } from './lists.ts'
import { definition, NOTHING, parseKnock, type KnockState, type Listed, type Sequence } from './model.ts'
import { createNft, NftRefused, type Seen } from './nft.ts'
import { listeningPorts } from './ports.ts'
import { allowScript, namesIn, putScript, script, setName, takeScript, type ListName } from './rules.ts'
import { createWatch, type News } from './watch.ts'

/** Between two looks at what addresses did. */
const LOOK_EVERY = 700
/** Somebody may empty our chains and leave the table: every so many looks the entrance is compared. */
const LOOKS_TO_COMPARE = 8
/** What was refused may be possible now: a program has ended, nftables was installed. */
const TRY_AGAIN = 60_000
/** The disk is written to at most this often while knocks come in. */
const SAVE_EVERY = 2000
/** What the agent does not remember is looked for in the sets of so many sequences. */
const MOST_SEARCHED = 50
/** How long rules may stay that nobody has proved to leave the way to the server open. */
const PROOF_WITHIN = 60_000

/** In which events reach a server that can be reached. */
const OUTBOX_TIME = 10_000

const LISTS = ['kill', 'open', 'block'] as const satisfies readonly ListName[]

/** Why a sequence is not in force. */
interface Refusal {
  readonly state: 'unsupported' | 'failed'
  readonly error: string
}

/**
 * Keeps knock sequences in force with nftables: rules, what is open, blocked and cut, and what addresses did, as events.
 * New rules are on trial until the server has answered with them in place; else what held before comes back.
 */
export function createKnock(needs: {
  stateDirectory: string
  serverId: string
  /** The nft program with its first arguments. */
  nft: readonly string[]
  /** Why a port must not be closed; null when it may. `holds`: it is closed already. */
  whyNotClose: (port: number, holds: boolean) => string | null
  /** The ports that the server wants closed now. */
  onWanted: (ports: readonly number[]) => void
  /** What is never locked out; null before the first whitelist. */
  allowed: () => Addresses | null
  /** Whether the server answers a request that is made now. */
  answers: () => Promise<boolean>
  append: (entries: readonly Entry[]) => void
  /** The server's clock minus ours, milliseconds; null before it has answered. */
  clockOffset: () => number | null
  /** What the server should hear of has changed. */
  changed: () => void
  listening?: (protocol: 'tcp' | 'udp') => ReadonlySet<number>
  proofWithin?: number
  now: () => number
  log: Log
}) {
  const { now, log } = needs
  const listening = needs.listening ?? listeningPorts
  const nft = createNft(needs.nft)
  const stateFile = join(needs.stateDirectory, 'knock.json')
  const rulesFile = join(needs.stateDirectory, 'knock.nft')
  const looking = createOnce(log.warn)

  const saved = asFields(readJson(stateFile))
  let version = asText(saved['version'])
  let wanted: KnockState = version === '' ? NOTHING : parseKnock(saved['wanted'])
  let wantedText = JSON.stringify(saved['wanted'] ?? null)
  /** In the kernel now. */
  let loaded: readonly Sequence[] = []
  /** In the kernel with the server's answer; what a failed trial returns to. */
  let proved: readonly Sequence[] = parseKnock({ sequences: asList(saved['proved']) }).sequences
  let trial: object | null = null
  /** The last attempt to load rules: null when it went well. */
  let refusal: Refusal | null = null
  /** Sequences whose rules were taken back, by definition, until the server wants something else of them or asks again. */
  const takenBack = new Map<string, string>()
  let refused = new Map<number, Refusal>()
  const members: Record<ListName, Members> = {
    open: createMembers(saved['open']),
    block: createMembers(saved['block']),
    kill: createMembers(saved['kill']),
  }
  const watch = createWatch(saved['seen'], randomUUID)
  /** The sets of a run that left no memory of what it told. */
  let unknownPast = saved['seen'] === undefined
  let allowLoaded: Addresses | null | undefined
  let entrance = ''
  let withReset = true
  let known: readonly string[] | null = null
  /** How often the rules were loaded. */
  let loads = 0
  let looks = 0
  let lookedAt = 0
  let tryAgainAt = Infinity
  let unsaved = false
  let savedAt = -Infinity
  let timer: NodeJS.Timeout | null = null
  let stopped = false
  let started = false
  let queue: Promise<unknown> = Promise.resolve()
  let following: Promise<void> = Promise.resolve()

  /** Milliseconds of a clock that runs evenly since the host's start, also over a restart of the agent. */
  const even = (): number => Number(process.hrtime.bigint() / 1_000_000n)
  const local = (serverTime: number): number => serverTime - (needs.clockOffset() ?? 0)
  const isLoaded = (id: number): boolean => loaded.some(sequence => sequence.id === id)

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work)
    queue = result.catch(() => undefined)
    return result
  }

  // Rules

  /** The sequences that can be in force, and why the others can't. */
  function usable(): { sequences: Sequence[]; refusals: Map<number, Refusal> } {
    const refusals = new Map<number, Refusal>()
    const sequences: Sequence[] = []
    const ports = { tcp: listening('tcp'), udp: listening('udp') }
    const failed = (id: number, error: string): void => void refusals.set(id, { state: 'failed', error })
    for (const { id, error } of wanted.faults)
      failed(id, `the server describes it in a way that makes no sense: ${error}`)
    const closed = new Set(wanted.sequences.map(({ protectedPort }) => protectedPort))
    for (const sequence of wanted.sequences) {
      const { id, knockPorts, protocol } = sequence
      const veto = needs.whyNotClose(sequence.protectedPort, isProved(sequence))
      const back = takenBack.get(definition(sequence))
      const busy = knockPorts.find(port => ports[protocol].has(port))
      const shut = knockPorts.find(port => closed.has(port))
      const rival = sequences.find(
        other => other.protocol === protocol && other.knockPorts.some(port => knockPorts.includes(port)),
      )
      if (veto !== null) failed(id, veto)
      else if (back !== undefined) failed(id, back)
      else if (shut !== undefined) failed(id, `its knock port ${shut} is the protected port of a sequence`)
      else if (rival) failed(id, `it shares a knock port with sequence ${rival.id}`)
      // What holds already stays: a program that came later must not open the protected port.
      else if (busy !== undefined && !proved.some(other => definition(other) === definition(sequence)))
        failed(id, `something on this host listens on its knock port ${protocol} ${busy}`)
      else sequences.push(sequence)
    }
    return { sequences, refusals }
  }

  const sameRules = (one: readonly Sequence[], other: readonly Sequence[]): boolean =>
    one.length === other.length && one.every((sequence, i) => definition(sequence) === definition(other[i] ?? sequence))

  function entries(): readonly string[] {
    const addresses = needs.allowed()
    return addresses === null ? [] : [...addresses.singles, ...addresses.ranges]
  }

  /** Loads the rules for these sequences; older kernels and tables of other versions get what they take. Throws NftRefused. */
  async function load(sequences: readonly Sequence[]): Promise<void> {
    // Before and after: what was read meanwhile is of neither.
    loads += 1
    try {
      await loadNow(sequences)
    } finally {
      loads += 1
    }
  }

  async function loadNow(sequences: readonly Sequence[]): Promise<void> {
    if (sequences.length === 0) {
      await nft.remove()
      loaded = []
      known = null
      allowLoaded = undefined
      watch.forget()
      keepRules(null)
      return
    }
    const present = known ?? (await nft.present())
    const isNew = present === null
    const allow = needs.allowed()
    const list = isNew || allow !== allowLoaded ? entries() : null
    const ways = [
      { reset: withReset, fresh: false },
      { reset: false, fresh: false },
      { reset: withReset, fresh: true },
      { reset: false, fresh: true },
    ]
    let failure: unknown = null
    for (const way of ways) {
      try {
        const all = way.fresh ? entries() : list
        const rules = script(sequences, all, { ...way, present: present ?? [] })
        await nft.load(isNew || way.fresh ? `${rules}${whatHeld(sequences)}` : rules)
        failure = null
        withReset = way.reset
        loaded = sequences
        allowLoaded = allow
        known = namesIn(rules)
        entrance = (await nft.entrance()) ?? ''
        for (const list of LISTS) members[list].drop(({ sequence }) => !isLoaded(sequence))
        if (isNew || way.fresh) {
          watch.forget()
          unknownPast = false
        }
        break
      } catch (error) {
        failure = error
        if (error instanceof NftRefused && error.hopeless) break
      }
    }
    if (failure !== null) throw failure as Error
  }

  /** What was open, blocked and cut when the table went, for the time that is left, as lines for nft. */
  function whatHeld(sequences: readonly Sequence[]): string {
    return LISTS.flatMap(list =>
      members[list]
        .all()
        .filter(({ sequence, until }) => sequences.some(({ id }) => id === sequence) && until > now())
        .flatMap(({ sequence, ip, until }) => putScript(list, sequence, ip, until - now())),
    )
      .map(line => `${line}\n`)
      .join('')
  }

  async function bringRules(): Promise<void> {
    const { sequences, refusals } = usable()
    refused = refusals
    tryAgainAt = refusals.size > 0 ? now() + TRY_AGAIN : Infinity
    if (!sameRules(sequences, loaded) || (sequences.length === 0 && !started)) {
      try {
        await load(sequences)
        refusal = null
      } catch (error) {
        const unable = error instanceof NftRefused && error.unable
        refusal = { state: unable ? 'unsupported' : 'failed', error: errorText(error) }
        if (sequences.length === 0) return
        tryAgainAt = now() + TRY_AGAIN
        log.warn(`port knocking: ${errorText(error)}`)
        schedule()
        return
      }
      trial = null
      if (loaded.every(isProved)) keepProved()
      else void prove().catch((error: unknown) => log.warn(`port knocking: ${errorText(error)}`))
    } else {
      refusal = null
      // The same rules, perhaps under new revisions.
      loaded = sequences
      if (trial === null) proved = loaded
    }
    schedule()
  }

  const isProved = (sequence: Sequence): boolean => proved.some(other => definition(other) === definition(sequence))

  /** The rules hold: they are what comes back after a failed trial, and after the host's next start. */
  function keepProved(): void {
    proved = loaded
    save()
    writeRules()
  }

  function writeRules(): void {
    if (proved.length === 0) return
    const text = script(proved, entries(), { reset: withReset, fresh: false, present: [] })
    keepRules(text)
  }

  /** For the host's next start. A full disk is no reason to leave a port as it is now. */
  function keepRules(text: string | null): void {
    try {
      if (readText(rulesFile) === text) return
      if (text === null) removeDurably(rulesFile)
      else writeDurably(rulesFile, text)
    } catch (error) {
      log.warn(`the rules of port knocking cannot be kept for the next start: ${errorText(error)}`)
    }
  }

  /** Asks the server until it answers; in a minute without an answer the rules may be why. */
  async function prove(): Promise<void> {
    const mine = {}
    trial = mine
    const deadline = even() + (needs.proofWithin ?? PROOF_WITHIN)
    while (trial === mine && !stopped) {
      const reached = await needs.answers().catch(() => false)
      if (trial !== mine || stopped) return
      if (reached) {
        await inTurn(() => {
          if (trial === mine) {
            trial = null
            keepProved()
            log.info(`port knocking: ${proved.length} sequences are in force`)
          }
          return Promise.resolve()
        })
        needs.changed()
        return
      }
      if (even() >= deadline) {
        await inTurn(async () => {
          if (trial === mine) await takeBack()
        })
        needs.changed()
        return
      }
      await new Promise(resolve => setTimeout(resolve, Math.min(1000, Math.max(0, deadline - even()))))
    }
  }

  async function takeBack(): Promise<void> {
    trial = null
    const sentence = 'the server could not be reached while its rules were in place, so they were taken back'
    for (const sequence of loaded) if (!isProved(sequence)) takenBack.set(definition(sequence), sentence)
    log.warn(`port knocking: ${sentence}`)
    await load(proved).catch(async (error: unknown) => {
      log.warn(`port knocking: what held before does not come back (${errorText(error)}): all of its rules go`)
      await load([])
    })
    refused = usable().refusals
    save()
  }

  // Lists

  async function bringLists(askedAt: number): Promise<void> {
    const lines: string[] = []
    const done: (() => void)[] = []
    const of = (listed: readonly Listed[]): Listed[] =>
      listed.filter(({ sequence }) => isLoaded(sequence)).map(each => ({ ...each, until: local(each.until) }))
    const open = of(wanted.openings)
    // Who is let in again is not cut off.
    const cuts = of(wanted.cuts).filter(
      cut => !open.some(({ sequence, ip }) => sequence === cut.sequence && ip === cut.ip),
    )
    for (const [list, want] of [
      ['kill', cuts],
      ['open', open],
      ['block', of(wanted.blocked)],
    ] as const) {
      const { put, take } = members[list].difference(want, now(), askedAt)
      for (const member of take) {
        lines.push(...takeScript(list, member.sequence, member.ip))
        done.push(() => members[list].left(member))
      }
      for (const { sequence, ip, until } of put) {
        lines.push(...putScript(list, sequence, ip, until - now()))
        const event = members[list].get(sequence, ip)?.event ?? null
        done.push(() => members[list].arrived({ sequence, ip, until, listed: true, event, takenAt: null }))
      }
    }
    if (lines.length === 0) return
    try {
      await nft.load(`${lines.join('\n')}\n`)
      for (const each of done) each()
    } catch (error) {
      if ((await nft.entrance().catch(() => '')) === null) {
        for (const each of done) each()
        await restore('is gone')
      } else log.warn(`port knocking: openings and blocks were not changed: ${errorText(error)}`)
    }
  }

  // Events

  /** Reads what addresses did. Reading is not in turn: nobody who waits for a port waits for it. */
  async function look(): Promise<void> {
    if (loaded.length === 0) return
    const mark = loads
    const readAt = now()
    looks += 1
    const seen = await nft.seen()
    const compared = seen !== null && looks % LOOKS_TO_COMPARE === 0 ? await nft.entrance() : entrance
    await inTurn(async () => {
      // Read from rules that are no more: the next look sees it all.
      if (loads !== mark || loaded.length === 0) return
      if (seen === null || compared === null) await restore('is gone')
      else if (compared !== entrance) await restore('was changed by somebody')
      else digest(seen, readAt)
    })
  }

  function digest(seen: readonly Seen[], readAt: number): void {
    if (unknownPast) {
      watch.baseline(seen, even())
      unsaved = true
    }
    unknownPast = false
    const news = watch.look(seen, even(), readAt, lookedAt)
    lookedAt = readAt
    tell(news)
    if (needs.allowed() !== allowLoaded) void followWhitelist()
    if (looks % 100 === 0) for (const list of LISTS) members[list].drop(({ until }) => until <= now())
    const opened = news.some(({ kind }) => kind === 'success')
    if (unsaved && (opened || now() - savedAt > SAVE_EVERY)) save()
  }

  function tell(news: readonly News[]): void {
    if (news.length === 0) return
    const told = news.map(each => {
      const sequence = loaded.find(({ id }) => id === each.sequence)
      const event_id = knockEventId(needs.serverId, each.mark)
      return { ...each, event_id, at: arrive(each, sequence, event_id), said: reasonOf(each, sequence) }
    })
    const offset = needs.clockOffset()
    needs.append(
      told.map(({ event_id, sequence, ip, kind, at, said }) => ({
        kind: 'knock',
        at,
        offset,
        knock: { event_id, sequence_id: sequence, ip, status: statusOf(kind), reason: said },
      })),
    )
    unsaved = true
  }

  /** Keeps who is in which list. Answers when it happened. */
  function arrive(news: News, sequence: Sequence | undefined, event: string): number {
    const { ip, kind, at } = news
    if (!sequence) return at
    const member = { sequence: sequence.id, ip, listed: false, event, takenAt: null }
    if (kind === 'success') {
      members.open.arrived({ ...member, until: at + sequence.timeout * 1000 })
      members.kill.left({ sequence: sequence.id, ip, until: 0 })
    }
    if (kind === 'block') members.block.arrived({ ...member, until: at + sequence.blockDuration * 1000 })
    // Knocks that a block swallowed came before its end, however coarse the times are.
    const block: Member | undefined = kind === 'hit' ? members.block.get(sequence.id, ip) : undefined
    return block ? Math.min(at, block.until - 1) : at
  }

  /** What is in the lists but not in our memory: the agent was away for long, or ended before it could write. */
  async function findMembers(): Promise<void> {
    for (const sequence of loaded.slice(0, MOST_SEARCHED)) {
      for (const family of ['0.0.0.0', '::']) {
        for (const { ip, expires } of await unknownIn('open', sequence, family)) {
          const until = now() + expires * 1000
          // The event of it is on its way, if it has not arrived.
          const takenAt = even() + OUTBOX_TIME
          members.open.arrived({ sequence: sequence.id, ip, until, listed: false, event: null, takenAt })
        }
        const blocks = await unknownIn('block', sequence, family)
        tell(
          blocks.map(({ ip, expires }) => {
            const at = now() - Math.max(0, sequence.blockDuration - expires) * 1000
            const mark = `found|${sequence.id}|${ip}|${Math.round(at / 10_000)}`
            return { sequence: sequence.id, kind: 'block', ip, at, mark, times: 1, unlisted: 0 }
          }),
        )
      }
    }
  }

  async function unknownIn(list: ListName, { id }: Sequence, family: string) {
    const found = await nft.addresses(setName(list, id, family))
    return found.filter(({ ip }) => !members[list].get(id, ip))
  }

  /** The table went, or is not as we made it: everything again, at once. */
  async function restore(what: string): Promise<void> {
    log.warn(`port knocking: the table of its rules ${what}; it is made anew`)
    known = null
    allowLoaded = undefined
    await load(loaded)
    unsaved = true
  }

  /** Not in turn with the rest: a long list takes its time, and nobody is to wait for it. */
  function followWhitelist(): Promise<void> {
    following = following.then(async () => {
      const addresses = needs.allowed()
      if (loaded.length === 0 || addresses === allowLoaded) return
      try {
        await nft.load(`${allowScript(entries()).join('\n')}\n`)
        allowLoaded = addresses
        writeRules()
      } catch (error) {
        looking.tell(`port knocking: the whitelist is not in its rules yet: ${errorText(error)}`)
      }
    })
    return following
  }

  function schedule(): void {
    if (timer !== null || stopped || (loaded.length === 0 && tryAgainAt === Infinity)) return
    timer = setTimeout(() => {
      lookAround()
        .then(looking.over)
        .catch((error: unknown) => looking.tell(`port knocking: ${errorText(error)}`))
        .finally(() => {
          timer = null
          schedule()
        })
    }, LOOK_EVERY)
  }

  async function lookAround(): Promise<void> {
    await look()
    if (now() >= tryAgainAt) await inTurn(tryAgain)
  }

  async function tryAgain(): Promise<void> {
    const before = JSON.stringify(report())
    await bringRules()
    await bringLists(0)
    if (JSON.stringify(report()) !== before) needs.changed()
  }

  function report(): KnockAcknowledgement | undefined {
    if (version === '') return undefined
    const outcome = ({ id, revision }: { id: number; revision: number }): KnockAcknowledgement['sequences'] => {
      const wish = wanted.sequences.find(sequence => sequence.id === id)
      const why = refused.get(id) ?? refusal
      if (wish && loaded.some(each => definition(each) === definition(wish)))
        return isProved(wish) ? [{ id, revision, state: 'enforced', error: null }] : []
      return why ? [{ id, revision, ...why }] : []
    }
    const isOpen = ({ sequence, ip }: Listed): boolean =>
      isLoaded(sequence) && (members.open.get(sequence, ip)?.until ?? 0) > now()
    return {
      sequences: [...wanted.sequences, ...wanted.faults].flatMap(outcome),
      openings: wanted.openings.filter(isOpen).map(({ id }) => id),
    }
  }

  /** Not at once: somebody waits for a port to open. A crash before it makes the agent ask for the state again. */
  function saveSoon(): void {
    unsaved = true
    setImmediate(() => void inTurn(() => Promise.resolve(unsaved && !stopped ? save() : undefined)))
  }

  function save(): void {
    const seen = watch.save()
    const keep = (list: ListName): unknown => members[list].all().filter(({ until }) => until > now())
    try {
      writeDurably(
        stateFile,
        JSON.stringify({
          v: 1,
          version,
          wanted: JSON.parse(wantedText) as unknown,
          proved: proved.map(wireForm),
          open: keep('open'),
          block: keep('block'),
          kill: keep('kill'),
          seen: seen.rows,
        }),
      )
      seen.kept()
      unsaved = false
    } catch (error) {
      log.warn(`what is known of knocks cannot be saved: ${errorText(error)}`)
    }
    savedAt = now()
  }

  return {
    /** Brings back what held, before the server is asked. */
    start: (): Promise<void> =>
      inTurn(async () => {
        if (version === '') return
        try {
          if (proved.length > 0) {
            const there = await nft.present()
            known = null
            await load(proved)
            if (there !== null) {
              digest((await nft.seen()) ?? [], now())
              await findMembers()
            } else unknownPast = false
          }
        } catch (error) {
          log.warn(`port knocking: what held before is not in force: ${errorText(error)}`)
        }
        await bringRules()
        started = true
        save()
      }),
    /** Whether this is the state that the host was told last. */
    holds: (asked: string | null): boolean => asked !== null && asked === version,
    /**
     * A state of the server, asked for at `askedAt` (of `even`): rules, openings, blocks and cuts are as it says when this
     * ends, but for what `report` tells. Answers whether it says something else than the last one.
     */
    take: (value: unknown, newVersion: string, askedAt: number): Promise<boolean> =>
      inTurn(async () => {
        const text = JSON.stringify(value ?? null)
        const isNew = text !== wantedText
        // The same once more is a wish to try again.
        if (!isNew) takenBack.clear()
        wantedText = text
        wanted = parseKnock(value)
        needs.onWanted(wanted.sequences.map(({ protectedPort }) => protectedPort))
        const first = version === ''
        version = newVersion
        if (first && wanted.sequences.length === 0 && wanted.faults.length === 0) {
          // A table of an earlier life of this host, perhaps.
          await nft.remove().catch(() => undefined)
        } else {
          await bringRules()
          await bringLists(askedAt)
        }
        started = true
        saveSoon()
        return isNew
      }),
    report,
    even,
    /** Looks again at what may be in force: the policy of the host has changed. */
    judgeAgain: (): Promise<void> => inTurn(() => (version === '' ? Promise.resolve() : tryAgain())),
    /** The server has taken these events in. */
    taken(eventIds: readonly string[]): void {
      const ids = new Set(eventIds)
      for (const list of ['open', 'block'] as const) members[list].taken(ids, even())
      unsaved = true
    },
    /** The whitelist is another one. */
    followWhitelist,
    async stop(): Promise<void> {
      stopped = true
      if (timer !== null) clearTimeout(timer)
      await inTurn(async () => {
        if (trial !== null) await takeBack()
        if (unsaved) save()
      })
    },
  }
}

export type Knock = ReturnType<typeof createKnock>

function statusOf(kind: News['kind']): 'success' | 'failed' | 'blocked' {
  return kind === 'success' ? 'success' : kind === 'wrong' || kind === 'late' ? 'failed' : 'blocked'
}

function reasonOf({ kind, times, unlisted }: News, sequence: Sequence | undefined): string | null {
  const rest = unlisted === 0 ? '' : `; ${unlisted} more addresses at the same time are not listed`
  const often = times > 1 ? `, ${times} times` : ''
  if (kind === 'success') return null
  if (kind === 'wrong') return `wrong order${often}${rest}`
  if (kind === 'late') return `too slow${often}${rest}`
  if (kind === 'hit') return `knocked while blocked${often}${rest}`
  return sequence
    ? `blocked for ${sequence.blockDuration} s after ${sequence.maxAttempts} failed ${sequence.maxAttempts === 1 ? 'attempt' : 'attempts'}`
    : 'blocked'
}

/** As the server describes it: what is saved is read back by the same eyes. */
function wireForm(sequence: Sequence): Record<string, unknown> {
  return {
    id: sequence.id,
    revision: sequence.revision,
    protected_port: sequence.protectedPort,
    knock_ports: sequence.knockPorts,
    protocol: sequence.protocol,
    timeout: sequence.timeout,
    knock_timeout: sequence.knockTimeout,
    max_attempts: sequence.maxAttempts,
    block_duration: sequence.blockDuration,
  }
}
