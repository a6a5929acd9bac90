import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { presentIdentity } from '../move/record.ts'
import { isAlive, takeLock } from '../lock.ts'
import { oneOffTransport } from '../one-off.ts'
import type { Options } from '../options.ts'
import { errorText } from '../text.ts'
import { agentVersion } from '../version.ts'
import { findInitSystem } from './init-system.ts'
import { createInstallation } from './installation.ts'
import { byHand, dropOrder, readOrder, writeOutcome } from './order.ts'
import type { UpgradeOrder, UpgradeOutcome } from './order.ts'
import { fetchRelease } from './release-source.ts'
import { carryOutUpgrade } from './upgrader.ts'

/**
 * `stockade-agent upgrade`: what the agent ordered with `--ordered`, otherwise whatever release the server has. One upgrade runs at
 * a time.
 * @throws Error with a sentence when the agent that ran before runs on
 */
export const upgradeHost = async (
  isOrdered: boolean,
  options: Options,
  say: (text: string) => void,
): Promise<string> => {
  const unlock = takeLock(join(options.root, '.upgrade'))
  try {
    const order = readOrder(options.state)
    if (isOrdered && order === null) return 'No upgrade is ordered.'
    const outcome = await outcomeOf(order ?? orderByHand(), options, say)
    if (!outcome.success && !isOrdered) throw new Error(outcome.text)
    return outcome.text
  } finally {
    unlock()
  }
}

const orderByHand = (): UpgradeOrder => ({
  id: byHand,
  version: '',
  manifest: null,
  program: null,
  isReturn: false,
  orderedAt: Date.now(),
  switching: null,
})

const outcomeOf = async (
  order: UpgradeOrder,
  options: Options,
  say: (text: string) => void,
): Promise<UpgradeOutcome> => {
  const outcome = await carryOut(order, options, say).catch((error: unknown): UpgradeOutcome => ({
    id: order.id,
    success: false,
    text: errorText(error),
  }))
  if (order.id === byHand) dropOrder(options.state)
  else writeOutcome(options.state, outcome)
  return outcome
}

const carryOut = async (
  order: UpgradeOrder,
  options: Options,
  say: (text: string) => void,
): Promise<UpgradeOutcome> => {
  const identity = presentIdentity(options, process.env)
  const init = findInitSystem(join(options.root, 'stockade-agent'), options.units)
  if (init === null) throw new Error('no init system is here that could start the new agent')
  const installation = createInstallation(options.root, init.units)
  const transport = oneOffTransport({
    baseUrl: identity.base_url,
    apiKey: identity.api_key,
    ca: identity.ca,
    pins: identity.pins,
    proxy: identity.proxy,
  })
  try {
    return await carryOutUpgrade(order, {
      state: options.state,
      installation,
      init,
      async stage({ version, manifest, program }) {
        const host = { configDirectory: options.config, identity, running: agentVersion }
        const { allowDowngrade } = options
        const target = { version: version === '' ? null : version, manifest, program, allowDowngrade }
        const release = await fetchRelease(transport, host, target)
        return installation.stage(release.program, release.version)
      },
      isAlive: () => isAlive(options.run),
      reaches: () =>
        transport.json('GET', '/api/v1/agent/state', { timeout: 10_000 }).then(
          () => true,
          () => false,
        ),
      wait: ms => wait(ms),
      now: () => performance.now(),
      say,
    })
  } finally {
    transport.close()
  }
}
