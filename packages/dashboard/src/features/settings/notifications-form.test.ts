import { expect, it } from 'vitest'
import { chatChange, emailChange, masked, typedOf } from './notifications-form.ts'
import type { Chat, Email } from './notifications-form.ts'

const is: Email = {
  enabled: true,
  notify_bans: true,
  notify_errors: true,
  notify_syncs: false,
  daily_summary: false,
  daily_summary_hour: 8,
  smtp_host: 'mail.corp.example',
  smtp_port: 587,
  smtp_user: null,
  smtp_pass_set: true,
  smtp_tls: true,
  from_address: null,
  recipients: ['anna@corp.example'],
  last_sent: null,
  last_error: null,
  failing_since: null,
}
const chat: Chat = { ...is, webhook_url: null }

it('sends only what changed, and a text that was emptied as nothing', () => {
  const typed = {
    ...typedOf(8, chat, is),
    'email.smtp_host': ' ',
    'email.smtp_port': '2,525',
    'email.recipients': 'anna@corp.example, berta@corp.example\n',
  }
  expect(emailChange(typed, new Set(['email.smtp_host', 'email.smtp_port', 'email.recipients']))).toEqual({
    smtp_host: null,
    smtp_port: 2525,
    recipients: ['anna@corp.example', 'berta@corp.example'],
  })
  expect(emailChange({ ...typed, 'email.smtp_pass': null }, new Set(['email.smtp_pass']))).toEqual({ smtp_pass: null })
  expect(emailChange(typed, new Set(['chat.enabled']))).toEqual({})
})
it('takes a webhook in as it was pasted, without blanks around it', () => {
  const typed = { ...typedOf(8, chat, is), 'chat.webhook_url': ' https://chat.example/hooks/a ' }
  const changed = new Set(['chat.webhook_url', 'chat.notify_syncs'])
  expect(chatChange({ ...typed, 'chat.notify_syncs': true }, changed)).toEqual({
    webhook_url: 'https://chat.example/hooks/a',
    notify_syncs: true,
  })
  expect(chatChange({ ...typed, 'chat.webhook_url': null }, changed)).toMatchObject({ webhook_url: null })
})
it.each([
  ['https://chat.example/services/T0/B0/hush?token=hush', 'https://chat.example/••••••'],
  ['nonsense hush', '••••••'],
])('%s is masked', (webhook, shown) => expect(masked(webhook)).toBe(shown))
