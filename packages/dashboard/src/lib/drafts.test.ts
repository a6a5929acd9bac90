import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clearDrafts, countDrafts, dropDrafts, readDraft, same, writeDraft } from './drafts.ts'
import { storageOf } from './testing/storage.ts'

const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')
beforeEach(() => {
  Object.defineProperty(globalThis, 'localStorage', { value: storageOf(), configurable: true, writable: true })
})
afterEach(() => {
  if (before) Object.defineProperty(globalThis, 'localStorage', before)
  else Reflect.deleteProperty(globalThis, 'localStorage')
})

const is = { name: 'Stockade', port: '25', token: '', events: ['ban'] }
const none = { typed: {}, was: {} }
const now = Date.parse('2026-11-23T04:00:00Z')
const keep = (secrets: readonly string[] = []) =>
  writeDraft(7, 'mail', is, { typed: { name: 'Fence', token: 'secret' }, was: { name: 'Stockade' } }, secrets, now)

describe('a draft', () => {
  it('is read back for its user only', () => {
    keep()
    expect(readDraft(7, 'mail', is, now)).toMatchObject({ typed: { name: 'Fence' }, was: { name: 'Stockade' } })
    expect(readDraft(8, 'mail', is, now)).toEqual(none)
    expect(readDraft(7, 'chat', is, now)).toEqual(none)
  })
  it('never holds a secret', () => {
    keep(['token'])
    expect(JSON.stringify(localStorage.getItem('stockade-draft:7:mail'))).not.toContain('secret')
  })
  it('is ignored when it is of another version of the form', () => {
    keep()
    expect(readDraft(7, 'mail', { ...is, host: '' }, now)).toEqual(none)
    expect(readDraft(7, 'mail', { ...is, port: 25 }, now)).toEqual(none)
  })
  it('has no field that holds the saved value by now', () => {
    writeDraft(7, 'mail', is, { typed: { name: 'Fence', port: '587' }, was: { name: 'Stockade', port: '25' } }, [], now)
    expect(readDraft(7, 'mail', { ...is, name: 'Fence' }, now)).toEqual({ typed: { port: '587' }, was: { port: '25' } })
    expect(readDraft(7, 'mail', { ...is, name: 'Fence', port: '587' }, now)).toEqual(none)
  })
  it('is counted for its user while it lasts', () => {
    keep()
    writeDraft(7, 'chat', is, { typed: { name: 'Hedge' }, was: {} }, [], now - 8 * 86_400_000)
    localStorage.setItem('stockade-draft:7:broken', 'null')
    expect([countDrafts(7, now), countDrafts(8, now)]).toEqual([1, 0])
  })
  it('holds sets, which are the same in any order', () => {
    const target = { kind: 'some', servers: new Set<string>() }
    const typed = { servers: new Set(['b', 'a']) }
    writeDraft(7, 'ban/target', target, { typed, was: {} }, [], now)
    const { typed: read } = readDraft(7, 'ban/target', target, now)
    expect(read).toEqual({ servers: new Set(['a', 'b']) })
    expect(same(read, typed)).toBe(true)
    expect(same(new Set(['a']), new Set(['b']))).toBe(false)
    expect(readDraft(7, 'ban/target', { kind: 'some', servers: [] }, now)).toEqual(none)
  })
  it('counts as one form with those of its parts, and is forgotten with them', () => {
    for (const name of ['ban/target', 'ban/reason', 'banner'])
      writeDraft(7, name, { value: '' }, { typed: { value: 'x' }, was: {} }, [], now)
    expect(countDrafts(7, now)).toBe(2)
    dropDrafts(7, 'ban')
    expect(countDrafts(7, now)).toBe(1)
  })
  it('is not kept when it is as long as a file', () => {
    keep()
    writeDraft(7, 'mail', is, { typed: { name: 'x'.repeat(300_000) }, was: {} }, [], now)
    expect(localStorage.length).toBe(0)
  })
  it.each(['{', 'null', '[]', '{"typed":1}', '{"form":"","at":"x","typed":null}'])('is ignored when it is %s', text => {
    localStorage.setItem('stockade-draft:7:mail', text)
    expect(readDraft(7, 'mail', is, now)).toEqual(none)
  })
  it('is ignored when a field has a value of another kind', () => {
    keep()
    const kept = (localStorage.getItem('stockade-draft:7:mail') ?? '').replace('"Fence"', '{"a":1}')
    localStorage.setItem('stockade-draft:7:mail', kept)
    expect(readDraft(7, 'mail', is, now)).toEqual(none)
  })
  it('is forgotten after a week, when nothing is left of it, and with the session', () => {
    keep()
    expect(readDraft(7, 'mail', is, now + 8 * 24 * 3_600_000)).toEqual(none)
    writeDraft(7, 'mail', is, none, [], now)
    expect(localStorage.length).toBe(0)
    keep()
    localStorage.setItem('stockade-scheme', 'dark')
    clearDrafts()
    expect(localStorage.length).toBe(1)
  })
})
