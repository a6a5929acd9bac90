import type { Preset } from './preset.ts'

/** Any service. The body may be a template of one's own; `docs/guides/channels.md` describes it and the signature. */
export const webhook: Preset = {
  id: 'webhook',
  name: 'Webhook',
  guide:
    'Any address that takes a POST. With a secret each request is signed: X-Stockade-Signature holds the time and an HMAC-SHA256. A template changes the body.',
  fields: [
    { name: 'url', kind: 'url', secret: true, required: true, example: 'https://hooks.corp.example/stockade' },
    { name: 'secret', kind: 'text', secret: true, example: 'a long random text' },
    { name: 'authorization', kind: 'text', secret: true, example: 'Bearer token' },
    {
      name: 'content_type',
      kind: 'text',
      example: 'text/plain',
      default: 'application/json',
      pattern: /^(?:application\/json|text\/plain|application\/x-www-form-urlencoded)$/,
      says: 'must be application/json, text/plain or application/x-www-form-urlencoded',
    },
    { name: 'template', kind: 'template', example: '{"text":"{{title}}: {{text}}","level":"{{severity}}"}' },
  ],
  call: {
    url: '{{url}}',
    headers: { authorization: '{{authorization}}' },
    body: {
      version: 1,
      status: '{{status}}',
      severity: '{{severity}}',
      rule: '{{rule}}',
      key: '{{key}}',
      title: '{{title}}',
      text: '{{text}}',
      link: '{{link}}',
      at: '{{at}}',
      site: '{{site}}',
      site_url: '{{site_url}}',
      delivery: '{{delivery}}',
    },
  },
  // What a service of one's own writes into its answer is its own affair.
  answer: { isFinal: true },
  limits: { title: 500, text: 20_000 },
}
