import { eventKinds } from '@stockade/contract'
import type { EventKind, EventName } from '@stockade/contract'
import { expect, test } from 'vitest'
import { categoryOf, noticeOf } from './notices.ts'

const kinds: readonly (readonly [string, EventKind])[] = Object.entries(eventKinds)
// A ban's notice is made of its row.
const notified = kinds.flatMap(([name, { notify }]) => (notify && name !== 'ban.report' ? [name as EventName] : []))

test.each(notified)('%s has something to say', name => {
  const data = { status: 'failed', sync_status: 'failed', version: '0.2.0', reason: '2 of 4 servers in wave 2 failed.' }
  const event = { id: 1, at: 0, name, author: null, serverNo: null, banId: null, data }
  expect(categoryOf(event)).toBe('syncs')
  const notice = noticeOf(event)
  expect(notice?.title).toMatch(/\S/)
  expect(notice?.path).toMatch(/^\//)
})
