import { slackForm } from '../chat-forms.ts'
import type { Preset } from './preset.ts'

/* https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, https://docs.slack.dev/reference/block-kit/blocks */
export const slack: Preset = {
  id: 'slack',
  name: 'Slack',
  guide:
    'Create an app at api.slack.com/apps, switch on Incoming Webhooks, add one to a channel and copy its URL. Mattermost and Rocket.Chat take the same format.',
  fields: [
    {
      name: 'webhook_url',
      kind: 'url',
      secret: true,
      required: true,
      example: 'https://hooks.slack.com/services/T0000/B0000/token',
    },
  ],
  call: { url: '{{webhook_url}}', body: slackForm },
  limits: { title: 150, text: 2900 },
}
