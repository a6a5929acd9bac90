import { textsOf } from '../texts/catalogue.ts'
import { clip } from '../words/clip.ts'
import { fleetTexts } from './fleet.texts.ts'
import type { CommandRow } from './queries.ts'

const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? clip(String(value), 64).shown : '?'

/** What a command asks for, in words: `Unban 203.0.113.7 from sshd`. */
export const saidOf = ({ type, params }: Pick<CommandRow, 'type' | 'params'>): string => {
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
      return t.said.deploy(word(params.template_name ?? params.template_id))
    case 'remove-template':
      return t.said.remove(word(params.template_name))
    case 'reload-all':
    case 'service-restart':
      return t.types[type]
  }
}
