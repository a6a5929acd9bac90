import type { Preset } from './preset.ts'

/* https://core.telegram.org/bots/api#sendmessage. Without `parse_mode` a text is never read as markup. */
export const telegram: Preset = {
  id: 'telegram',
  name: 'Telegram',
  guide:
    'Ask @BotFather for a bot and copy its token. Add the bot to the chat; the chat id is a number, or @name of a public channel.',
  fields: [
    {
      name: 'bot_token',
      kind: 'text',
      secret: true,
      required: true,
      example: '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11',
      pattern: /^[0-9]{1,20}:[A-Za-z0-9_-]{5,100}$/,
      says: 'must look like 123456:ABC-DEF1234',
      inPath: true,
    },
    {
      name: 'chat_id',
      kind: 'text',
      required: true,
      example: '-1001234567890',
      pattern: /^(?:-?[0-9]{1,20}|@[A-Za-z0-9_]{3,64})$/,
      says: 'must be a number, or @ and the name of a public channel',
    },
    { name: 'server_url', kind: 'base', example: 'https://api.telegram.org', default: 'https://api.telegram.org' },
  ],
  call: {
    url: '{{server_url}}/bot{{bot_token}}/sendMessage',
    body: {
      chat_id: '{{chat_id}}',
      text: '{{title}}\n{{text}}\n{{link}}',
      link_preview_options: { is_disabled: true },
    },
  },
  answer: {
    field: { path: 'ok', equals: true },
    wait: { path: 'parameters.retry_after', unit: 'seconds' },
    words: 'description',
  },
  limits: { title: 250, text: 3400 },
}
