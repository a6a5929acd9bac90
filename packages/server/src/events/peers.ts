/** What processes over one database tell each other; all of it may get lost, and nothing but speed hangs on it. */
export interface Peers {
  /** A message of any process, this one's own too. */
  hear(text: string): void
  /** Says that this process is there. */
  greet(): void
  /** Resolves when every other process has caught up with what was committed before; after a second at the latest. */
  settle(): Promise<void>
  close(): void
}

const greetEvery = 2000
/** A process that was silent for this long is not waited for. */
const forgetAfter = 3 * greetEvery
const patience = 1000

interface Round {
  /** Processes that did not answer yet. */
  readonly waitingFor: Set<string>
  finish(): void
}

/**
 * Knows the other processes and asks them to catch up. Messages are `here ID`, `gone ID`, `ask ID ROUND` and
 * `done ID ROUND BY`. Questions that come while one is under way share the next one.
 */
export const createPeers = (needs: {
  /** This process, a text without blanks that no other has. */
  id: string
  say: (text: string) => void
  /** Resolves when all that was committed before the call is known here. */
  caughtUp: () => Promise<void>
  log: (error: unknown) => void
}): Peers => {
  const { id, say, caughtUp, log } = needs
  const lastSeen = new Map<string, number>()
  const rounds = new Map<number, Round>()
  let last = 0
  let next: Promise<void> | null = null
  let current: Promise<void> = Promise.resolve()

  const greet = () => say(`here ${id}`)
  const present = () => {
    const now = performance.now()
    for (const [peer, at] of lastSeen) if (now - at > forgetAfter) lastSeen.delete(peer)
    return [...lastSeen.keys()]
  }
  const ask = async () => {
    const others = present()
    if (others.length === 0) return
    const round = ++last
    let finish = () => {}
    const done = new Promise<void>(resolve => (finish = resolve))
    rounds.set(round, { waitingFor: new Set(others), finish })
    const timer = setTimeout(finish, patience)
    say(`ask ${id} ${round}`)
    await done
    clearTimeout(timer)
    rounds.delete(round)
  }
  const answer = (asker: string, round: string) => {
    caughtUp().then(() => say(`done ${asker} ${round} ${id}`), log)
  }
  const greeting = setInterval(greet, greetEvery)
  greeting.unref()
  return {
    greet,
    // oxlint-disable-next-line complexity -- one branch for each word of the protocol
    hear(text) {
      const [verb = '', who = '', round = '', by = ''] = text.split(' ')
      if (verb === 'done') {
        const ownRound = who === id ? rounds.get(Number(round)) : undefined
        if (ownRound?.waitingFor.delete(by) && ownRound.waitingFor.size === 0) ownRound.finish()
        return
      }
      if (who === id || who === '') return
      if (verb === 'gone') {
        lastSeen.delete(who)
        for (const ownRound of rounds.values())
          if (ownRound.waitingFor.delete(who) && ownRound.waitingFor.size === 0) ownRound.finish()
        return
      }
      const isNew = !lastSeen.has(who)
      lastSeen.set(who, performance.now())
      if (isNew) greet()
      if (verb === 'ask') answer(who, round)
    },
    settle() {
      if (lastSeen.size === 0) return Promise.resolve()
      next ??= current.then(() => {
        next = null
        current = ask()
        return current
      })
      return next
    },
    close() {
      clearInterval(greeting)
      say(`gone ${id}`)
      for (const { finish } of rounds.values()) finish()
    },
  }
}
