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
  call: {
    url: '{{webhook_url}}',
    body: {
      embeds: [
        {
          title: '{{title}}',
          url: '{{link}}',
          description: '{{text}}',
          color: '{{colour}}',
          timestamp: '{{at}}',
          footer: { text: '{{site}}' },
        },
      ],
      // Nobody is ever pinged, whatever a log line says.
      allowed_mentions: { parse: [] },
    },
  },
  answer: { wait: { path: 'retry_after', unit: 'seconds' }, words: 'message' },
  limits: { title: 256, text: 4000 },
  markup: 'discord',
  scales: { colour: { info: 0x1c7ed6, warning: 0xe8590c, critical: 0xc92a2a, resolved: 0x2f9e44 } },
}
