import { expect, it } from 'vitest'
import { changesOf, readExport, unknownOf } from './import-preview.ts'
import type { Sections } from './import-preview.ts'

const is: Sections = {
  service: { site_name: 'Fence', site_url: 'https://fence.example', timezone: 'UTC' },
  security: {
    session_timeout: 604_800,
    mfa_required: true,
    passkey_required: 'off',
    password_min_length: 8,
    refuse_common_passwords: false,
    own_unban: false,
    self_tests: 'enrolment',
  },
  notifications: { chat_enabled: false, email_enabled: false, daily_summary: false, daily_summary_hour: 8 },
  integrations: { reputation_enabled: false, reputation_rate_limit: 1000 },
}
const read = (value: unknown) => {
  const found = readExport(JSON.stringify(value))
  if (!found) throw new Error('not read')
  return found
}

it('merging changes what is given and differs', () => {
  const given = read({ version: '1', settings: { service: { site_name: 'Fence', timezone: 'Asia/Kolkata' } } })
  expect(changesOf(is, given, true)).toEqual([{ name: 'service.timezone', from: 'UTC', to: 'Asia/Kolkata' }])
})
it('replacing sets all else to its default', () => {
  expect(changesOf(is, read({ settings: { service: { timezone: 'UTC' } } }), false)).toEqual([
    { name: 'service.site_name', from: 'Fence', to: 'Stockade' },
    { name: 'service.site_url', from: 'https://fence.example', to: null },
    { name: 'security.mfa_required', from: true, to: false },
  ])
  expect(changesOf(is, read({ settings: is }), false)).toEqual([])
})
it('takes the sections alone', () =>
  expect(changesOf(is, read({ security: { mfa_required: false } }), true)).toHaveLength(1))
it.each(['', '{', '[]', 'null', '"text"', '{}', '{"version":"1"}', '{"settings":[]}'])('%j is no export', text =>
  expect(readExport(text)).toBeNull(),
)
it('names what it does not know', () =>
  expect(unknownOf(read({ settings: { service: { colour: 'red' }, licence: 3 } }))).toEqual([
    'service.colour',
    'licence',
  ]))
