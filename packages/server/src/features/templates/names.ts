import { templates } from '@stockade/contract'

/** Names that mean something else to the engine or the agent, and those that a path of the interface has already. */
export const reservedNames: ReadonlySet<string> = new Set([
  ...templates.reservedTemplateNames,
  'definition',
  'init',
  'categories',
])
