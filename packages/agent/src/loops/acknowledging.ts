import type { Knock } from '../knock/knock.ts'
import type { Mover } from '../move/mover.ts'
import { createSerial } from '../serial.ts'
import type { FleetBans } from '../shield/fleet-bans.ts'
import type { Lists } from '../shield/lists.ts'
import type { Held, Whitelist } from '../whitelist/whitelist.ts'
import type { Wire } from '../wire.ts'
import type { Carrier } from './carrier.ts'

type Acknowledge = (version: string, listVersion: string, listHeld?: Held) => Promise<void>

/**
 * Tells the server what is in force, by the next poll or by a request of its own. One at a time: otherwise an older one could arrive last and
 * replace the newer one.
 */
export const createAcknowledging = (needs: {
  wire: Pick<Wire, 'acknowledge'>
  whitelist: Pick<Whitelist, 'held'>
  knock: Pick<Knock, 'report'>
  fleet: Pick<FleetBans, 'report'>
  lists: Pick<Lists, 'report'>
  mover: Pick<Mover, 'report'>
  carrier: Pick<Carrier, 'load'>
  /** The server may not have got what a poll took along. */
  onLost: () => void
}): Acknowledge => {
  const { wire, whitelist, knock, fleet, lists, mover, carrier, onLost } = needs
  const inTurn = createSerial()
  let count = 0
  return (version, listVersion, listHeld) =>
    inTurn(async () => {
      const heldList = listHeld ?? whitelist.held()
      const bans = await fleet.report()
      const outcome = {
        version,
        whitelistVersion: listVersion,
        ...heldList,
        portknock: knock.report(),
        move: mover.report(),
      }
      const listed = await lists.report()
      const applied =
        bans === null ? outcome : { ...outcome, fleet: bans, ...(listed === null ? {} : { lists: listed }) }
      const number = ++count
      const isCarried = carrier.load({ applied }, result => {
        // A newer one that went by itself may have been faster.
        if ('error' in result || count !== number) onLost()
      })
      if (!isCarried) await wire.acknowledge(applied)
    })
}
