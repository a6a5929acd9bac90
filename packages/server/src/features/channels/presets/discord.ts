import { discordForm } from '../chat-forms.ts'
import type { Preset } from './preset.ts'

/* https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discord: Preset = {
  id: 'discord',
  name: 'Discord',
  guide: 'Open the settings of a channel, then Integrations, Webhooks, New Webhook, and copy the webhook URL.',
  fields: [
    {
      name: 'webhook_url',
      kind: 'url',
      secret: true,
      required: true,
      example: 'https://discord.com/api/webhooks/1234567890/token',
    },
  ],
  call: { url: '{{webhook_url}}', body: discordForm },
  answer: { wait: { path: 'retry_after', unit: 'seconds' }, words: 'message' },
  limits: { title: 256, text: 4000 },
}
