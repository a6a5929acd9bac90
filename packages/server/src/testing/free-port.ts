import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const free = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
/*
 * Test files run at the same time, and a port is used only some time after it was chosen. So each worker has a thousand ports of
 * its own, below those that the system gives to outgoing connections, and chooses none twice.
 */
const slice = 1000
const workerSlices = 19
const worker = process.env.VITEST_WORKER_ID
const firstPort = 12_000 + slice * (worker === undefined ? workerSlices : Number(worker) % workerSlices)
const chosenPorts = new Set<number>()
/** A port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(firstPort, firstPort + slice)
    if (chosenPorts.has(port) || !(await free(port))) continue
    chosenPorts.add(port)
    return port
  }
}
