import { wideBan } from '@stockade/contract/seal.ts'
import { createLog } from '../log.ts'
import { inheritedConnection } from '../netlink/connection.ts'
import { nftablesSubsystem } from '../netlink/tables.ts'
import type { Options } from '../options.ts'
import { createPolicy } from '../policy/policy.ts'
import { approvalsFile, openApprovals } from '../seal/approvals.ts'
import { wantsSeal } from '../seal/operators.ts'
import { errorText } from '../text.ts'
import { parseList } from '../whitelist/list.ts'
import { createStore } from '../whitelist/store.ts'
import { answerRequest, askAgent } from './control.ts'
import type { ShieldRequest } from './control.ts'
import { approvedInLists } from './list-ranges.ts'
import { openKernel, openShield } from './open.ts'
import type { Kernel } from './kernel.ts'
import type { Shield } from './shield.ts'

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** The shield without an agent: what is on the disk, and the kernel. Reports wait for the agent's next start. */
const standaloneShield = (options: Options): { readonly shield: Shield; readonly kernel: Kernel } => {
  const text = createStore(options.state).text()
  const storedEntries = text === null ? [] : parseList(text, 0, null)
  const log = createLog({ verbose: options.verbose, stamp: false })
  const kernel = openKernel(options.nft, inheritedConnection(nftablesSubsystem))
  const policy = createPolicy({ directory: options.config, now: Date.now })
  const approvals = openApprovals(approvalsFile(options.state), () => undefined)
  const { shield } = openShield({
    stateDirectory: options.state,
    approvedInLists: () => approvedInLists(policy, wantsSeal(options.config, wideBan) ? approvals : null),
    kernel,
    kept: () => storedEntries,
    isWhitelisted: () => false,
    answers: () => Promise.resolve(false),
    clockOffset: () => null,
    isReported: () => false,
    onBanned: () => undefined,
    onEnded: () => undefined,
    now: Date.now,
    log: { ...log, info: log.debug },
  })
  return { shield, kernel }
}

/** Before the network is up: puts the bans of the last run into the kernel. @throws Error if that is not possible */
export const loadShield = async (options: Options): Promise<string> => {
  const { shield } = standaloneShield(options)
  await shield.start()
  const { supported, reason } = shield.report()
  if (!supported) throw new Error(`the shield is not supported on this host: ${reason ?? ''}`)
  return shield.isOn() ? `the shield holds ${shield.bans().length} bans` : 'the shield is switched off'
}

/** `stockade-agent shield status|off|on|release`. @throws Error if the request is not understood or fails */
export const shieldCommand = async (words: readonly string[], options: Options): Promise<string> => {
  const request = parseRequest(words, options.duration)
  let answer = await askAgent(options.run, request)
  if (answer === null) {
    const { shield, kernel } = standaloneShield(options)
    if (request.verb === 'status') return statusWithoutAgent(shield, kernel)
    await shield.start()
    answer = await answerRequest(shield, request, Date.now)
  }
  const text = answer.lines.join('\n')
  if (!answer.isDone) throw new Error(text)
  return text
}

/** Changes nothing: an agent may be starting at this moment, and the table is its own. */
const statusWithoutAgent = async (shield: Shield, kernel: Kernel): Promise<string> => {
  const damage = await kernel.damage().catch((error: unknown) => `can not be read: ${errorText(error)}`)
  const isThere = damage === null || damage === 'was changed by somebody'
  const state = shield.offUntil() === undefined ? 'the agent does not run; its table ' : 'off; its table '
  return [
    `shield: ${state}${isThere ? 'is in the kernel' : damage}`,
    `bans: ${shield.bans().length}`,
    `through ${kernel.driver}`,
  ].join('\n')
}

const parseRequest = ([verb = 'status', ip, ...rest]: readonly string[], duration: string | null): ShieldRequest => {
  const isKnown = verb === 'status' || verb === 'off' || verb === 'on' || verb === 'release'
  if (!isKnown || rest.length > 0 || (verb === 'release') !== (ip !== undefined))
    throw new Error('shield status, shield off [--for 1h], shield on, or shield release ADDRESS')
  if (duration !== null && verb !== 'off') throw new Error('--for belongs to shield off')
  return { verb, seconds: duration === null ? null : secondsOf(duration), ip: ip ?? null }
}

const secondsOf = (text: string): number => {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  const factor = unitSeconds[unit]
  if (factor === undefined) throw new Error('--for takes a number and a unit: 30m, 1h, 2d')
  return Number(count) * factor
}
