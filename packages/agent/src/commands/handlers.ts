import { EngineDown } from '../engine/engine.ts'
import { ownJail } from '../engine/own-files.ts'
import { canonicalIp } from '../ip.ts'
import { asFields, asText } from '../json.ts'
import type { Templates } from '../templates/templates.ts'
import { errorText } from '../text.ts'
import type { Command } from '../wire.ts'
import { createBanHandlers } from './ban-handlers.ts'
import { createJailHandlers } from './jail-handlers.ts'
import type { Handlers } from './params.ts'
import { Refused } from './refused.ts'

type Needs = Parameters<typeof createBanHandlers>[0] &
  Parameters<typeof createJailHandlers>[0] & {
    templates: Templates
    approvals: Pick<Handlers, 'approve-whitelist' | 'approve-port' | 'approve-ban'>
    selfTest: Handlers['self-test']
    previews: Pick<Handlers, 'jail-preview' | 'template-preview'>
    upgrade: Handlers['upgrade-agent']
  }

/** The handlers of all commands, by type. */
export const createHandlers = (needs: Needs): Handlers => ({
  ...createBanHandlers(needs),
  ...createJailHandlers(needs),
  async 'deploy-template'({ template }) {
    const output = await needs.templates.deploy(template)
    await needs.settle()
    return output
  },
  async 'remove-template'({ template_name }) {
    const output = await needs.templates.remove(template_name)
    await needs.settle()
    return output
  },
  ...needs.approvals,
  'self-test': needs.selfTest,
  ...needs.previews,
  'upgrade-agent': needs.upgrade,
})

/**
 * The lane of a command: its jail, or null when it concerns all of fail2ban. Bans of the shield do not wait for each
 * other, because the order of commands only counts for the same address.
 */
export const laneOf = (command: Command, isShieldUsed: boolean): string | null => {
  if (/^(?:self-test|upgrade-agent)$/.test(command.type)) return command.type
  if (/-preview$/.test(command.type)) return 'preview'
  const jail = command.params['jail'] ?? templateOf(command)
  const isShieldBan = isShieldUsed && /^(un)?ban-ip$/.test(command.type)
  if (isShieldBan && (jail === ownJail || (jail === undefined && command.type === 'ban-ip')))
    return `${ownJail} ${canonicalIp(asText(command.params['ip'])) ?? ''}`
  if (command.type === 'ban-ip' && jail === undefined) return ownJail
  return typeof jail === 'string' && jail !== '*' ? jail : null
}

/** The name of a template, which is also the name of its jail. */
const templateOf = (command: Command): unknown => {
  if (command.type === 'remove-template') return command.params['template_name']
  return command.type === 'deploy-template' ? asFields(command.params['template'])['name'] : undefined
}

/** The output and the exit code of a command that threw. */
export const refusalText = (error: unknown): { output: string; code: number } => {
  if (error instanceof Refused) return { output: error.message, code: error.code }
  if (error instanceof EngineDown)
    return { output: `fail2ban is not running or does not answer: ${error.message}`, code: 1 }
  return { output: errorText(error), code: 1 }
}
