import { describe, expect, it } from 'vitest'
import { noticesOf } from './weight.ts'
import type { Situation } from './weight.ts'

const calm: Situation = {
  opened: 'https://stockade.example',
  base: 'https://stockade.example',
  licence: { servers_used: 3, server_limit: 3 },
  siem: { enabled: true, connected: true, queue_size: 9 },
  version: '0.1.0',
  built: '0.1.0',
}
const kinds = (given: Partial<Situation>) => noticesOf({ ...calm, ...given }).map(({ kind }) => kind)

describe('notices', () => {
  it('is nothing where all is well, or not known yet', () => {
    expect(kinds({})).toEqual([])
    expect(kinds({ base: undefined, licence: undefined, siem: undefined, version: undefined })).toEqual([])
  })
  it('is ordered by weight', () => {
    expect(
      kinds({
        version: '0.2.0',
        siem: { enabled: true, connected: false, queue_size: 0 },
        licence: { servers_used: 4, server_limit: 3 },
        opened: 'http://192.0.2.1:8420',
      }),
    ).toEqual(['elsewhere', 'licence', 'siem', 'version'])
  })
  it.each([
    ['http://localhost:8420', 'http://127.0.0.1:8420', false],
    ['http://localhost:8420', 'http://[::1]:8420', false],
    ['http://localhost:8420', 'http://192.0.2.1:8420', true],
    ['https://stockade.example/base', 'https://stockade.example', false],
    ['https://stockade.example', 'http://stockade.example', true],
  ])('%s opened at %s: %s', (base, opened, told) => {
    expect(kinds({ base, opened }).includes('elsewhere')).toBe(told)
  })
  it('says nothing of a forwarding that is off', () => {
    expect(kinds({ siem: { enabled: false, connected: false, queue_size: 4 } })).toEqual([])
  })
})
