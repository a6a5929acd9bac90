import { afterEach, describe, expect, it, vi } from 'vitest'
import { preferences, readPreferences } from './preferences.ts'
import { storageOf } from './testing/storage.ts'

const usual = readPreferences({})

describe('preferences that were kept', () => {
  it.each([null, 7, 'x', [], { density: 'huge', zone: 3, clock: 12, keys: 'no', views: [] }])(
    '%j: what is not understood is as usual',
    kept => expect(readPreferences(kept)).toEqual(usual),
  )
  it.each([
    ['/servers', '/servers'],
    ['/siem', '/siem'],
    ['//elsewhere.example', '/'],
    ['/\\elsewhere.example', '/'],
    ['https://elsewhere.example', '/'],
    ['/a?b', '/'],
  ])('the first page %j is %j', (start, read) => expect(readPreferences({ start }).start).toBe(read))
  it('takes over what it knows', () => {
    const kept = {
      ...usual,
      density: 'dense' as const,
      clock: '12' as const,
      language: 'de',
      views: { bans: [{ name: 'Today', search: 'from=now-1d' }] },
      columns: { bans: 'state,jail' },
    }
    expect(readPreferences(JSON.parse(JSON.stringify(kept)))).toEqual(kept)
  })
  it('leaves out columns that are none', () =>
    expect(readPreferences({ columns: { bans: '<b>', users: 7, servers: 'name' } }).columns).toEqual({
      servers: 'name',
    }))
  it('bounds views', () => {
    const many = Array.from({ length: 80 }, (_, index) => ({ name: `v${index}`, search: '' }))
    const odd = [
      { name: '', search: '' },
      { name: 'x'.repeat(61), search: '' },
      { name: 'x', search: 'y'.repeat(2001) },
      1,
    ]
    const { views } = readPreferences({ views: { bans: many, users: odd } })
    expect([views.bans?.length, views.users]).toEqual([50, []])
  })
})

describe('preferences in a browser of several users', () => {
  afterEach(() => {
    preferences.replace(usual)
    vi.unstubAllGlobals()
  })
  it('outlast the next sign-in of their user, and not the one of somebody else', () => {
    vi.stubGlobal('localStorage', storageOf())
    preferences.belongTo(7)
    preferences.change({ density: 'dense' })
    preferences.belongTo(7)
    expect([preferences.read().density, preferences.isUnsaved()]).toEqual(['dense', true])
    preferences.belongTo(8)
    expect(preferences.read()).toEqual(usual)
    expect(preferences.isUnsaved()).toBe(false)
  })
})
