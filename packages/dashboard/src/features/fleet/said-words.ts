import { clip } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { fleetTexts } from './fleet.texts.ts'
import type { CommandRow } from './queries.ts'

const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? clip(String(value), 64).shown : '?'

export type Named = Pick<CommandRow, 'type' | 'params'>

/** What a command asks for, in words: `Unban 203.0.113.7 from sshd`. `nameOf` knows templates by their number. */
export const saidOf = (
  { type, params }: Named,
  nameOf: (id: unknown) => string | undefined = () => undefined,
): string => {
  const t = textsOf(fleetTexts)
  const jail = params.jail === '*' ? t.said.everyJail : word(params.jail)
  switch (type) {
    case 'ban-ip':
      return t.said.ban(word(params.ip), jail)
    case 'unban-ip':
      return t.said.unban(word(params.ip), jail)
    case 'jail-status':
    case 'jail-enable':
    case 'jail-disable':
    case 'jail-reload':
      return t.said[type](jail)
    case 'deploy-template':
      return t.said.deploy(word(nameOf(params.template_id) ?? params.template_id))
    case 'remove-template':
      return t.said.remove(word(params.template_name))
    default:
      return t.types[type]
  }
}
