import type { Command } from '../../api/queries.ts'

/** A command without what the host said to it: thousands of those would not fit. */
export type Ordered = Pick<Command, 'type' | 'params' | 'server'>

/** What a new batch takes of a command that was: a deployment names its template and settings, as it was asked for. */
const paramsOf = ({ type, params }: Ordered) =>
  type === 'deploy-template' ? { template_id: params.template_id, settings: params.settings ?? {} } : params

/** So many targets at most in one batch that names them one by one. */
const mostTargets = 5000
/** What orders them again: one batch for all where they ask for the same, else as many as it takes. */
export const ordersOf = (rows: readonly Ordered[]) => {
  const [first] = rows
  if (!first) return []
  const { type } = first
  // Templates are ordered for servers only; in a batch there is one of them.
  if (type.endsWith('-template') || new Set(rows.map(({ params }) => JSON.stringify(params))).size === 1)
    return [{ type, server_ids: [...new Set(rows.map(({ server }) => server.id))], params: paramsOf(first) }]
  return Array.from({ length: Math.ceil(rows.length / mostTargets) }, (_, index) => ({
    type,
    targets: rows
      .slice(index * mostTargets, (index + 1) * mostTargets)
      .map(({ server, params }) => ({ server_id: server.id, params })),
  }))
}
