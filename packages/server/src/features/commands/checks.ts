import { commands } from '@stockade/contract'
import { isWide } from '@stockade/contract/seal.ts'
import { atLeast } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { Problem, forbidden, invalid } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { inSlices } from '../../core/slices.ts'
import type { Snapshot, TemplatesService } from '../templates/templates.service.ts'
import { checkCommand } from './params.ts'
import type { CheckedCommand, CommandType, Params, ParamsOf } from './params.ts'

/** How many refused bans of a batch are named. */
const namedRefusals = 100

/** Refuses what an operator must not ban, 409 with the reason. */
export type RefuseBan = (actor: Principal, params: ParamsOf<'ban-ip'>) => void

/** A command fit to be stored, and the template that a deployment or a preview carries. */
export interface Frozen {
  readonly command: CheckedCommand
  readonly snapshot: Snapshot | null
}

/** Checks what an operator asks for, before anything is queued. */
export const createCommandChecks = (needs: { templates: Pick<TemplatesService, 'freeze'>; guardBan: RefuseBan }) => {
  const { templates, guardBan } = needs
  const freeze = async (command: CheckedCommand): Promise<Frozen> => {
    if (command.type !== 'deploy-template' && command.type !== 'template-preview') return { command, snapshot: null }
    const { template_id, settings = {} } = command.params
    const snapshot = await templates.freeze(template_id, settings, 'params.settings')
    if (!snapshot) throw invalid('params.template_id', `There is no template ${template_id}.`)
    const template = { template_id: snapshot.templateId }
    if (command.type === 'deploy-template')
      return { command: { ...command, params: { ...command.params, ...template } }, snapshot }
    return { command: { ...command, params: { ...command.params, ...template } }, snapshot }
  }
  /** @throws Problem 403 for a wide ban without a proof of identity, 409 for what must not be banned */
  const guard = (actor: Principal, command: CheckedCommand): void => {
    if (command.type !== 'ban-ip') return
    if (isWide(command.params.ip)) requireProof(actor)
    try {
      guardBan(actor, command.params)
    } catch (error) {
      throw error instanceof Problem ? error.under('params') : error
    }
  }
  return {
    freeze,
    guard,
    async check(actor: Principal, type: CommandType, given: Params | undefined): Promise<Frozen> {
      const command = checkCommand(type, given)
      guard(actor, command)
      return freeze(command)
    },
    /**
     * Refuses a caller without the permission that the type of command needs. A deployment writes root's configuration, so a session
     * cookie alone is not enough for it.
     * @throws Problem 403, with `step_up` for a missing proof of identity
     */
    authorize(actor: Principal, type: CommandType): void {
      const { permission, stepUp } = commands.commandTypes[type]
      if (!atLeast(actor.permission, permission)) throw forbidden(`${type} needs the permission ${permission}.`)
      if (stepUp) requireProof(actor)
    },
    /** Refuses the bans of a batch that must not be, naming each by its place, so that the rest can be sent without them. */
    async guardAll(actor: Principal, entries: readonly { readonly at: string; readonly command: CheckedCommand }[]) {
      if (entries.some(({ command }) => command.type === 'ban-ip' && isWide(command.params.ip))) requireProof(actor)
      const refused: { readonly path: string; readonly problem: Problem }[] = []
      let count = 0
      let isForcible = true
      await inSlices(entries, ({ at, command }) => {
        if (command.type !== 'ban-ip') return
        try {
          guardBan(actor, command.params)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          isForcible &&= error.reason === 'force-required'
          if (++count <= namedRefusals) refused.push({ path: `${at}.ip`, problem: error })
        }
      })
      const [first] = refused
      if (!first) return
      const more = count > 1 ? ` ${count - 1} more of these bans can't be, either; nothing is queued.` : ''
      throw new Problem(409, 'Conflict', `${first.path}: ${first.problem.message}${more}`, {
        ...(isForcible ? { reason: 'force-required' } : {}),
        details: refused.map(({ path, problem }) => ({
          path,
          message: problem.details?.[0]?.message ?? problem.message,
        })),
      })
    },
  }
}
export type CommandChecks = ReturnType<typeof createCommandChecks>
