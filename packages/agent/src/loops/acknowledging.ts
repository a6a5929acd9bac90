import type { Knock } from '../knock/knock.ts'
import type { Mover } from '../move/mover.ts'
import { createSerial } from '../serial.ts'
import type { FleetBans } from '../shield/fleet-bans.ts'
import type { Lists } from '../shield/lists.ts'
import type { Held, Whitelist } from '../whitelist/whitelist.ts'
import type { Wire } from '../wire.ts'

type Acknowledge = (version: string, listVersion: string, listHeld?: Held) => Promise<void>

/** Tells the server what is in force. One at a time: otherwise an older one could arrive last and replace the newer one. */
export const createAcknowledging = (needs: {
  wire: Pick<Wire, 'acknowledge'>
  whitelist: Pick<Whitelist, 'held'>
  knock: Pick<Knock, 'report'>
  fleet: Pick<FleetBans, 'report'>
  lists: Pick<Lists, 'report'>
  mover: Pick<Mover, 'report'>
}): Acknowledge => {
  const { wire, whitelist, knock, fleet, lists, mover } = needs
  const inTurn = createSerial()
  return (version, listVersion, listHeld) =>
    inTurn(async () => {
      const held = listHeld ?? whitelist.held()
      const bans = await fleet.report()
      const outcome = {
        version,
        whitelistVersion: listVersion,
        ...held,
        portknock: knock.report(),
        move: mover.report(),
      }
      const listed = await lists.report()
      await wire.acknowledge(
        bans === null ? outcome : { ...outcome, fleet: bans, ...(listed === null ? {} : { lists: listed }) },
      )
    })
}
