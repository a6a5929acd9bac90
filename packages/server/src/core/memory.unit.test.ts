import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

/** Fills the heap, keeps an object in a thousand, and ends once the heap is half as large. `busy`: works all the time meanwhile. */
const program = (isBusy: boolean) => `
  import { getHeapStatistics } from 'node:v8'
  import { giveMemoryBack } from ${JSON.stringify(new URL('./memory.ts', import.meta.url).href)}
  giveMemoryBack(50)
  const size = () => getHeapStatistics().total_heap_size
  let kept = Array.from({ length: 600_000 }, (_, n) => ({ n, text: 'text ' + n }))
  const grown = size()
  kept = kept.filter((_, n) => n % 1000 === 0)
  let looks = 0
  const look = () => {
    for (const until = performance.now() + 20; ${isBusy} && performance.now() < until;);
    const isGiven = size() < grown / 2
    if (!isGiven && ++looks < ${isBusy ? 50 : 3000}) return void setTimeout(look, ${isBusy ? 0 : 20})
    process.stdout.write(isGiven ? 'given back' : 'kept')
    process.exit()
  }
  look()`
const run = (isBusy: boolean) =>
  new Promise<string>(resolve =>
    // V8 does the same by itself in a program as simple as this one.
    execFile(
      process.execPath,
      ['--no-memory-reducer', '--input-type=module', '--eval', program(isBusy)],
      (_, out, err) => resolve(out + err),
    ),
  )

test('a thread that is calm gives memory back, one that works does not stop for it', async () => {
  expect(await run(false)).toBe('given back')
  expect(await run(true)).toBe('kept')
})
