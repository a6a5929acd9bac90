import { withFullDisk } from '../files.ts'
import { errorText } from '../text.ts'
import type { Installation } from './installation.ts'
import type { InitSystem } from './init-system.ts'
import { writeOrder } from './order.ts'
import type { UpgradeOrder, UpgradeOutcome } from './order.ts'

export interface UpgraderNeeds {
  readonly state: string
  readonly installation: Installation
  readonly init: Pick<InitSystem, 'restartAgent'>
  /** Fetches, verifies and stages the release that is wanted; its name. */
  readonly stage: (order: UpgradeOrder) => Promise<string>
  /** Whether the server has answered the agent that runs now. */
  readonly isAlive: () => boolean
  /** Whether this process can reach the server itself. */
  readonly reaches: () => Promise<boolean>
  readonly wait: (ms: number) => Promise<void>
  readonly now: () => number
  readonly say: (text: string) => void
}

/** A new agent gets this long to be answered by the server. */
const trialTime = 60_000
/** While the server is away, no agent could be answered: the trial goes on, but not for ever. */
const longestTrial = 15 * 60_000
/** An agent that stops right after its first answer is not fit. */
const steadyTime = 5000
const look = 500

/**
 * Carries out an order: stage, switch, wait for the server's answer, switch back without it. Each step is on the disk before
 * it is done, so that the next start of the upgrader ends what a crash interrupted.
 */
export const carryOutUpgrade = async (order: UpgradeOrder, needs: UpgraderNeeds): Promise<UpgradeOutcome> => {
  const { installation, say } = needs
  const ended = (success: boolean, text: string): UpgradeOutcome => ({ id: order.id, success, text })
  const { from, to } = order.switching ?? (await prepare(order, needs))
  if (from === to) return ended(true, `This host runs ${to} already.`)
  try {
    const fault = await tryRelease(order, { from, to }, needs)
    if (fault === null) return ended(true, `${from} was replaced by ${to}${keepReturn(installation, { from, to })}.`)
    say(`${to}: ${fault}; switching back to ${from}`)
    const hitch = switchBack(installation, from)
    const relapse = await startAndWatch(needs)
    const now = relapse === null ? `${from} runs again` : `${from} was put back, but ${relapse}`
    return ended(false, `${to}: ${fault}; ${now}${hitch}.`)
  } finally {
    installation.releaseUpgrader()
  }
}

interface Switching {
  readonly from: string
  readonly to: string
}

/** Null once the server has answered the new release. @throws Error with a sentence; nothing has been changed then */
const tryRelease = async (
  order: UpgradeOrder,
  { from, to }: Switching,
  needs: UpgraderNeeds,
): Promise<string | null> => {
  const { installation, state, say } = needs
  // An upgrader before this one judged it, and was killed while it switched back.
  if (!installation.has(to)) return 'it did not pass its trial'
  withFullDisk('the disk of this host is full: nothing was changed', () => {
    writeOrder(state, { ...order, switching: { from, to } })
    installation.holdUpgrader(from)
    say(`switching from ${from} to ${to}`)
    installation.switchTo(to)
  })
  return startAndWatch(needs)
}

/** Keeps the way to the release before. The new one works, so what goes wrong here is only told. */
const keepReturn = (installation: Installation, { from, to }: Switching): string => {
  try {
    installation.prune([from, to])
    installation.rememberPrevious(from)
    return ''
  } catch (error) {
    return `, but ${from} is not kept for a return: ${errorText(error)}`
  }
}

/** What needs no room comes first: a full disk must not keep a release that does not work. */
const switchBack = (installation: Installation, from: string): string => {
  installation.use(from)
  try {
    installation.prune([from, installation.previous()])
    installation.switchTo(from)
    return ''
  } catch (error) {
    return `, but its unit files could not be put back: ${errorText(error)}`
  }
}

/** @throws Error with a sentence; nothing has been changed then */
const prepare = async (order: UpgradeOrder, needs: UpgraderNeeds): Promise<{ from: string; to: string }> => {
  const { installation } = needs
  const from = installation.current()
  if (from === null)
    throw new Error('the installer did not put this agent here: run the install command with --upgrade')
  if (!order.isReturn) return { from, to: await needs.stage(order) }
  if (order.version !== from && order.version !== installation.previous())
    throw new Error(
      `this host does not keep the release ${order.version}; it can return to ${installation.previous() ?? 'none'}`,
    )
  return { from, to: order.version }
}

/** Null once the server has answered the agent; otherwise what is wrong with it. */
const startAndWatch = async ({ init, isAlive, reaches, wait, now }: UpgraderNeeds): Promise<string | null> => {
  try {
    await init.restartAgent()
  } catch (error) {
    return errorText(error)
  }
  const startedAt = now()
  let aliveSince: number | null = null
  for (;;) {
    if (!isAlive()) aliveSince = null
    else aliveSince ??= now()
    if (aliveSince !== null && now() - aliveSince >= steadyTime) return null
    const waited = now() - startedAt
    const isOver = aliveSince === null && waited >= trialTime
    if (isOver && (waited >= longestTrial || (await reaches())))
      return `the server did not answer it within ${Math.round(waited / 1000)} s`
    await wait(look)
  }
}
