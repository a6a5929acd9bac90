/** Every command type. Plain values without schemas, so that the bundles of the agent and the dashboard can use them. */
export const commandTypeNames = [
  'ban-ip',
  'unban-ip',
  'jail-status',
  'jail-preview',
  'jail-enable',
  'jail-disable',
  'jail-reload',
  'reload-all',
  'service-restart',
  'deploy-template',
  'remove-template',
  'template-preview',
  'approve-whitelist',
  'approve-port',
  'approve-ban',
  'self-test',
  'upgrade-agent',
] as const
export type CommandType = (typeof commandTypeNames)[number]

const nameSet: ReadonlySet<string> = new Set(commandTypeNames)
export const isCommandType = (type: string): type is CommandType => nameSet.has(type)
