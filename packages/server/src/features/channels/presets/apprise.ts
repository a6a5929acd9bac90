import type { Preset } from './preset.ts'

/* https://github.com/caronc/apprise-api#api-details. 204: the key has no configuration, so nobody was told. */
export const apprise: Preset = {
  id: 'apprise',
  name: 'Apprise API',
  guide: 'Run the Apprise API, store your targets there under a key, and enter its address and the key.',
  fields: [
    { name: 'server_url', kind: 'base', required: true, example: 'https://apprise.corp.example' },
    {
      name: 'config_key',
      kind: 'text',
      secret: true,
      required: true,
      example: 'stockade',
      pattern: /^[A-Za-z0-9_-]{1,128}$/,
      says: 'must be 1 to 128 letters, digits, underscores or hyphens',
      inPath: true,
    },
    { name: 'tag', kind: 'text', example: 'oncall', default: 'all' },
  ],
  call: {
    url: '{{server_url}}/notify/{{config_key}}',
    body: { title: '{{title}}', body: '{{text}}\n{{link}}', type: '{{type}}', tag: '{{tag}}', format: 'text' },
  },
  answer: { accepted: [200], words: 'error' },
  limits: { title: 250, text: 3000 },
  scales: { type: { info: 'info', warning: 'warning', critical: 'failure', resolved: 'success' } },
}
