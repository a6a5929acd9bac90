import { appendFileSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect } from 'vitest'

/*
 * `STOCKADE_TEST_CPU=FILE npm test`: a line for each test file with the CPU seconds of its process and of the programs that it started and
 * waited for. Wall-clock time says little: files run beside one another, and many of them wait.
 */
const ticksPerSecond = 100
/** CPU seconds of this process, and of its children that ended (proc(5), fields 14 to 17). */
const usedCpu = () => {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  const seconds = index => (Number(fields[index]) + Number(fields[index + 1])) / ticksPerSecond
  return { own: seconds(11), children: seconds(13) }
}
let before = usedCpu()
beforeAll(() => {
  before = usedCpu()
})
afterAll(() => {
  const { own, children } = usedCpu()
  const [a, b] = [own - before.own, children - before.children]
  const { testPath = '' } = expect.getState()
  const engine = process.env.STOCKADE_TEST_PAIR ? 'pair' : (process.env.STOCKADE_TEST_ENGINE ?? '')
  appendFileSync(
    process.env.STOCKADE_TEST_CPU ?? '/dev/null',
    `${(a + b).toFixed(1)}\t${a.toFixed(1)}\t${b.toFixed(1)}\t${testPath.replace(`${process.cwd()}/`, '')}\t${engine}\n`,
  )
})
