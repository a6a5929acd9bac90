import { describe, expect, it } from 'vitest'
import { readSettings, typedSettings, typedTime, untyped } from './settings-words.ts'

describe('settings of a template', () => {
  it('are read as people type them; what is empty is left out', () => {
    expect(readSettings({ maxretry: '5', findtime: '10m', bantime: 'perm', logpath: ' /var/log/x.log ' })).toEqual({
      settings: { maxretry: 5, findtime: 600, bantime: -1, logpath: '/var/log/x.log' },
      wrong: new Set(),
    })
    expect(readSettings(untyped)).toEqual({ settings: {}, wrong: new Set() })
  })
  it('are named when they are wrong', () => {
    const { settings, wrong } = readSettings({ maxretry: '0', findtime: 'perm', bantime: 'soon', logpath: '' })
    expect(settings).toEqual({})
    expect([...wrong]).toEqual(['maxretry', 'findtime', 'bantime'])
  })
  it.each([
    [null, ''],
    [-1, 'perm'],
    [86_400, '1d'],
    [5400, '90m'],
    [61, '61s'],
  ])('%s seconds are typed %j, and read as the same', (seconds, typed) => {
    expect(typedTime(seconds)).toBe(typed)
    expect(readSettings({ ...untyped, bantime: typed }).settings.bantime ?? null).toBe(seconds)
  })
  it('come back as they were', () => {
    const settings = { maxretry: 3, findtime: 600, bantime: null, logpath: null }
    expect(readSettings(typedSettings(settings)).settings).toEqual({ maxretry: 3, findtime: 600 })
  })
})
