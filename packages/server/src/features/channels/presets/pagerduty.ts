import type { Preset } from './preset.ts'

const server_url = {
  name: 'server_url',
  kind: 'base',
  example: 'https://events.eu.pagerduty.com',
  default: 'https://events.pagerduty.com',
} as const

/* https://developer.pagerduty.com/docs/send-alert-event */
export const pagerduty: Preset = {
  id: 'pagerduty',
  name: 'PagerDuty',
  guide:
    'Open the service, then Integrations, add "Events API V2" and copy the integration key. Accounts in Europe enter the address of their region.',
  fields: [
    {
      name: 'routing_key',
      kind: 'text',
      secret: true,
      required: true,
      example: '0123456789abcdef0123456789abcdef',
      pattern: /^[A-Za-z0-9]{32}$/,
      says: 'must have 32 letters and digits',
    },
    server_url,
  ],
  call: {
    url: '{{server_url}}/v2/enqueue',
    body: {
      routing_key: '{{routing_key}}',
      event_action: 'trigger',
      dedup_key: '{{key}}',
      payload: {
        summary: '{{title}}',
        source: '{{site_url}}',
        severity: '{{severity}}',
        timestamp: '{{at}}',
        class: '{{rule}}',
        custom_details: { text: '{{text}}' },
      },
      links: [{ href: '{{link}}', text: '{{label}}' }],
      client: '{{site}}',
      client_url: '{{site_url}}',
    },
  },
  resolve: {
    url: '{{server_url}}/v2/enqueue',
    body: { routing_key: '{{routing_key}}', event_action: 'resolve', dedup_key: '{{key}}' },
  },
  answer: { accepted: [202], field: { path: 'status', equals: 'success' }, words: 'message' },
  limits: { title: 1000, text: 8000 },
}
