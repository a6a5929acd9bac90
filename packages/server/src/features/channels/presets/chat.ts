import { chatKindOf, jsonForm } from '../chat-forms.ts'
import { discord } from './discord.ts'
import type { Preset } from './preset.ts'
import { slack } from './slack.ts'

const general: Preset = {
  ...discord,
  id: 'chat',
  call: { url: '{{webhook_url}}', body: jsonForm },
  // What a service of one's own writes into its answer is its own affair.
  answer: { isFinal: true },
}

/** How the chat of the settings is written to: as its URL tells. */
export const chatPresetOf = (url: string): Preset => ({ discord, slack, json: general })[chatKindOf(url)]
