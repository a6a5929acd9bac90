import type { Principal } from '../../core/actor.ts'
import { Problem, invalid } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { inSlices } from '../../core/slices.ts'
import type { Settings, Snapshot, TemplatesService } from '../templates/templates.service.ts'
import { checkParams } from './params.ts'
import type { Params } from './params.ts'
import type { CommandType } from './rows.ts'

/** How many refused bans of a batch are named. */
const namedRefusals = 100

/** Parameters fit to be stored, and the template that a deployment carries. */
export interface Checked {
  readonly params: Params
  readonly snapshot: Snapshot | null
}

/** Checks what an operator asks for, before anything is queued. */
export const createCommandChecks = (needs: {
  templates: Pick<TemplatesService, 'freeze'>
  /** Refuses what an operator must not ban, 409 with the reason. */
  guardBan: (actor: Principal, params: Params) => void
}) => {
  const { templates, guardBan } = needs
  const freeze = async (type: CommandType, params: Params): Promise<Checked> => {
    if (type !== 'deploy-template') return { params, snapshot: null }
    const { template_id, settings } = params as { template_id: number | string; settings: Settings }
    const snapshot = await templates.freeze(template_id, settings, 'params.settings')
    if (!snapshot) throw invalid('params.template_id', `There is no template ${template_id}.`)
    return { params: { ...params, template_id: snapshot.templateId }, snapshot }
  }
  return {
    freeze,
    async check(actor: Principal, type: CommandType, given: Params | undefined): Promise<Checked> {
      const params = checkParams(type, given)
      if (type === 'ban-ip') guardBan(actor, params)
      return freeze(type, params)
    },
    /** A deployment writes root's configuration, so a session cookie alone is not enough. @throws Problem 403 with `step_up` */
    proveFor(actor: Principal, type: string): void {
      if (type === 'deploy-template') requireProof(actor)
    },
    /** Refuses the bans of a batch that must not be, naming each by its place, so that the rest can be sent without them. */
    async guardAll(actor: Principal, entries: readonly { readonly at: string; readonly params: Params }[]) {
      const refused: { path: string; message: string }[] = []
      let count = 0
      await inSlices(entries, ({ at, params }) => {
        try {
          guardBan(actor, params)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          if (++count <= namedRefusals) refused.push({ path: `${at}.ip`, message: error.message })
        }
      })
      const [first] = refused
      if (!first) return
      const more = count > 1 ? ` ${count - 1} more of these bans can't be, either; nothing is queued.` : ''
      throw new Problem(409, 'Conflict', `${first.path}: ${first.message}${more}`, { details: refused })
    },
  }
}
export type CommandChecks = ReturnType<typeof createCommandChecks>
