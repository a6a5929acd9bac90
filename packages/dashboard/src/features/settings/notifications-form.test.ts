import { expect, it } from 'vitest'
import { chatChange, emailChange, masked, typedChat, typedEmail } from './notifications-form.ts'
import type { Email } from './notifications-form.ts'

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
it('sends only what changed, and a text that was emptied as nothing', () => {
  const typed = { ...typedEmail(is), host: ' ', port: '2,525', recipients: 'anna@corp.example, berta@corp.example\n' }
  expect(emailChange(typed, new Set(['host', 'port', 'recipients']))).toEqual({
    smtp_host: null,
    smtp_port: 2525,
    recipients: ['anna@corp.example', 'berta@corp.example'],
  })
  expect(emailChange({ ...typed, pass: null }, new Set(['pass']))).toEqual({ smtp_pass: null })
  expect(emailChange(typed, new Set())).toEqual({})
})
it('takes a webhook in as it was pasted, without blanks around it', () => {
  const chat = { ...typedChat({ ...is, webhook_url: null }), webhook: ' https://chat.example/hooks/a ' }
  expect(chatChange({ ...chat, syncs: true }, new Set(['webhook', 'syncs']))).toEqual({
    webhook_url: 'https://chat.example/hooks/a',
    notify_syncs: true,
  })
})
it.each([
  ['https://chat.example/services/T0/B0/hush?token=hush', 'https://chat.example/••••••'],
  ['nonsense hush', '••••••'],
])('%s is masked', (webhook, shown) => expect(masked(webhook)).toBe(shown))
