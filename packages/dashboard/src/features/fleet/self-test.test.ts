import { expect, test } from 'vitest'
import { readSelfTest } from './self-test.ts'

test('what a host says of its self-test is read, and nothing else is', () => {
  const step = { step: 'drop', family: 4, ok: true, ms: 1.6, text: 'the kernel dropped 1' }
  expect(
    readSelfTest(JSON.stringify({ result: 'proved', steps: [step, { ...step, ok: null, ms: 'x', text: 3 }] })),
  ).toEqual({
    result: 'proved',
    steps: [
      { ...step, ms: 2 },
      { ...step, ok: null, ms: 0, text: '' },
    ],
  })
  expect(
    readSelfTest(JSON.stringify({ result: 'failed', steps: [{ ...step, step: 'engine-drop' }] }))?.steps[0]?.step,
  ).toBe('engine-drop')
  for (const output of [
    'the shield does not work on this host',
    'null',
    '{}',
    JSON.stringify({ result: 'perfect', steps: [] }),
    JSON.stringify({ result: 'proved', steps: [null] }),
    JSON.stringify({ result: 'proved', steps: [{ ...step, step: 'constructor' }] }),
    JSON.stringify({ result: 'proved', steps: [{ ...step, family: 5 }] }),
  ])
    expect(readSelfTest(output)).toBe(null)
})
