/** Command types and the parameters that each must have. Apart from the schemas, so that the agent's bundle can have it. */
export const commandParams = {
  'ban-ip': ['jail', 'ip'],
  'unban-ip': ['jail', 'ip'],
  'jail-status': ['jail'],
  'jail-enable': ['jail'],
  'jail-disable': ['jail'],
  'jail-reload': ['jail'],
  'reload-all': [],
  'service-restart': [],
  'deploy-template': ['template_id', 'settings'],
  'remove-template': ['template_name'],
  'approve-whitelist': ['ip'],
  'approve-port': ['port'],
  'self-test': [],
} as const satisfies Record<string, readonly string[]>
export type CommandType = keyof typeof commandParams
export const commandTypes = Object.keys(commandParams) as readonly CommandType[]
