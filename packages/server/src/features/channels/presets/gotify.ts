import type { Preset } from './preset.ts'

/* https://gotify.net/api-docs#/message/createMessage */
export const gotify: Preset = {
  id: 'gotify',
  name: 'Gotify',
  guide: 'Create an application in Gotify under Apps and copy its token.',
  fields: [
    { name: 'server_url', kind: 'base', required: true, example: 'https://gotify.corp.example' },
    { name: 'token', kind: 'text', secret: true, required: true, example: 'A0lXnGEhCtn7jYp' },
  ],
  call: {
    url: '{{server_url}}/message',
    headers: { 'x-gotify-key': '{{token}}' },
    body: {
      title: '{{title}}',
      message: '{{text}}\n{{link}}',
      priority: '{{priority}}',
      extras: { 'client::display': { contentType: 'text/plain' } },
    },
  },
  answer: { words: 'errorDescription' },
  limits: { title: 250, text: 8000 },
  scales: { priority: { info: 3, warning: 6, critical: 9, resolved: 3 } },
}
