import type { Preset } from './preset.ts'

export const email: Preset = {
  id: 'email',
  name: 'E-mail',
  guide:
    'Mails go through the mail server of the e-mail settings. Enter one or more addresses with commas between them.',
  fields: [
    { name: 'recipients', kind: 'recipients', required: true, example: 'oncall@corp.example, noc@corp.example' },
  ],
  call: null,
  limits: { title: 200, text: 20_000 },
}
