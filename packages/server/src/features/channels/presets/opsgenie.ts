import type { Preset } from './preset.ts'

/* https://docs.opsgenie.com/docs/alert-api: an alias joins an alert and its end. */
export const opsgenie: Preset = {
  id: 'opsgenie',
  name: 'Opsgenie',
  guide:
    'Add an API integration to a team and copy its key. Accounts in Europe, and services with the same interface, enter their address.',
  fields: [
    { name: 'api_key', kind: 'text', secret: true, required: true, example: '01234567-89ab-cdef-0123-456789abcdef' },
    { name: 'server_url', kind: 'base', example: 'https://api.eu.opsgenie.com', default: 'https://api.opsgenie.com' },
  ],
  call: {
    url: '{{server_url}}/v2/alerts',
    headers: { authorization: 'GenieKey {{api_key}}' },
    body: {
      message: '{{title}}',
      alias: '{{key}}',
      description: '{{text}}\n{{link}}',
      source: '{{site}}',
      priority: '{{priority}}',
      tags: ['stockade', '{{severity}}'],
      details: { rule: '{{rule}}' },
    },
  },
  resolve: {
    url: '{{server_url}}/v2/alerts/{{key}}/close?identifierType=alias',
    headers: { authorization: 'GenieKey {{api_key}}' },
    body: { source: '{{site}}', note: '{{title}}' },
  },
  answer: { accepted: [200, 202], words: 'message' },
  limits: { title: 130, text: 14_000 },
  scales: { priority: { info: 'P4', warning: 'P3', critical: 'P1', resolved: 'P4' } },
}
