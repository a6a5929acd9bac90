import { fit } from '../notifications/message.ts'
import type { Preset } from './presets/preset.ts'

const gap = '\u200b'
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapes: Readonly<Record<NonNullable<Preset['markup']>, (character: string) => string>> = {
  plain: c => c,
  // Slack's control characters; Mattermost and Rocket.Chat read Markdown and mentions beside them.
  slack: c => (c === '@' ? `@${gap}` : c === '`' ? 'ʼ' : (entities[c] ?? c)),
  // A backslash before any sign; mentions and addresses are broken up.
  discord: c => (c === '@' ? `@${gap}` : /[\\*_~`|>#[\]()<:]/.test(c) ? `\\${c}` : c),
}

/** As much of a text as fits once it is escaped for a service. */
export const fitMarkup = (markup: NonNullable<Preset['markup']>, text: string, most: number): string =>
  fit(text, most, escapes[markup])
