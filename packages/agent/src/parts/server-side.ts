import type { Identity } from '../config.ts'
import type { Log } from '../log.ts'
import { createLink } from '../loops/link.ts'
import { createMover } from '../move/mover.ts'
import type { Options } from '../options.ts'
import { createBudget } from '../schedule.ts'
import { createTransport } from '../transport.ts'
import { agentVersion } from '../version.ts'
import { createWire } from '../wire.ts'
import type { Loops } from '../loops/loops.ts'

/** The way to the server, and to the address that it may move to. */
export const createServerSide = (needs: {
  identity: Identity
  options: Options
  loops: () => Loops
  now: () => number
  log: Log
}) => {
  const { identity, options, loops, now, log } = needs
  const transport = createTransport({
    baseUrl: identity.base_url,
    apiKey: identity.api_key,
    ca: identity.ca,
    pins: identity.pins,
    proxy: identity.proxy,
    budget: createBudget({ perMinute: 80, now: () => performance.now() }),
    now,
    userAgent: `stockade-agent/${agentVersion}`,
  })
  const wire = createWire(transport, identity.server_id)
  const link = createLink(log)
  const mover = createMover({
    options,
    identity,
    transport,
    interval: () => loops().heartbeat.interval(),
    changed: () => loops().state.again(),
    log,
  })
  link.onHeartbeat(mover.heard)
  return { transport, wire, link, mover }
}
