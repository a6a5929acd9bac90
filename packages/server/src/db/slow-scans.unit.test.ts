import { expect, test } from 'vitest'
import type { ScanTold } from './scans.ts'
import { createSlowScans, longWait } from './slow-scans.ts'
import type { SlowScans } from './slow-scans.ts'

const aScan = (given: Partial<ScanTold> = {}): ScanTold => ({
  outcome: 'answered',
  waited: 0,
  ran: 10,
  asked: () => ({ list: 'bans', fields: ['log'], length: 12 }),
  ...given,
})

test('the first slow search is told at once, what comes soon after it in one line', async () => {
  const lines: SlowScans[] = []
  const slow = createSlowScans(told => lines.push(told), 100)
  slow.watch(aScan())
  slow.watch(aScan({ outcome: 'failed', ran: 9000 }))
  expect(lines).toEqual([])
  slow.watch(aScan({ outcome: 'too_long', waited: 20.4, ran: 5000.2 }))
  const first = { tooLong: 1, refused: 0, waited: 0, longestMs: 5021, longest: aScan().asked() }
  expect(lines).toEqual([first])
  slow.watch(aScan({ outcome: 'too_long', ran: 5000 }))
  slow.watch(aScan({ outcome: 'refused', ran: 0 }))
  slow.watch(aScan({ waited: longWait + 1, ran: 5001, asked: () => null }))
  expect(lines).toHaveLength(1)
  await expect.poll(() => lines).toHaveLength(2)
  expect(lines[1]).toEqual({ tooLong: 1, refused: 1, waited: 1, longestMs: 6002, longest: null })
  slow.watch(aScan({ outcome: 'refused', ran: 0 }))
  expect(lines).toHaveLength(2)
  slow.close()
  expect(lines[2]).toMatchObject({ refused: 1, longestMs: 0 })
  slow.close()
  expect(lines).toHaveLength(3)
})
