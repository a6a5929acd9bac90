import type { Preset } from './preset.ts'

/* https://docs.ntfy.sh/publish/#publish-as-json. A message has at most 4,096 bytes; a character takes three at most. */
export const ntfy: Preset = {
  id: 'ntfy',
  name: 'ntfy',
  guide:
    'Choose a topic that nobody guesses and subscribe to it in the app. A protected topic needs an access token of an account that may write to it.',
  fields: [
    { name: 'server_url', kind: 'base', example: 'https://ntfy.sh', default: 'https://ntfy.sh' },
    {
      name: 'topic',
      kind: 'text',
      secret: true,
      required: true,
      example: 'stockade-4f7c21',
      pattern: /^[A-Za-z0-9_-]{1,64}$/,
      says: 'must be 1 to 64 letters, digits, underscores or hyphens',
    },
    { name: 'token', kind: 'text', secret: true, example: 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2' },
  ],
  call: {
    url: '{{server_url}}/',
    headers: { authorization: 'Bearer {{token}}' },
    body: {
      topic: '{{topic}}',
      title: '{{title}}',
      message: '{{text}}',
      priority: '{{priority}}',
      tags: ['{{tag}}'],
      click: '{{link}}',
    },
  },
  answer: { words: 'error' },
  limits: { title: 200, text: 1300 },
  scales: {
    priority: { info: 3, warning: 4, critical: 5, resolved: 3 },
    tag: { info: 'information_source', warning: 'warning', critical: 'rotating_light', resolved: 'white_check_mark' },
  },
}
