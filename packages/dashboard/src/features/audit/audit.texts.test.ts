import { expect, it } from 'vitest'
import { eventKinds } from '@stockade/contract'
import { auditTexts } from './audit.texts.ts'

it('every action of the audit log has words', () => {
  const audited = Object.entries(eventKinds).flatMap(([name, { audited }]) => (audited ? [name] : []))
  expect(Object.keys(auditTexts.en.actions).sort()).toEqual(audited.sort())
})
