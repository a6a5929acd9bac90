import { join } from 'node:path'
import { steadyNow } from '../clock.ts'
import { readText } from '../files.ts'
import type { NetlinkConnection } from '../netlink/connection.ts'
import type { Kernel } from './kernel.ts'
import { createNetlinkKernel } from './netlink-kernel.ts'
import { createNftKernel } from './nft-kernel.ts'
import { openFleetStore } from './fleet-store.ts'
import type { FleetStore } from './fleet-store.ts'
import { openListStore } from './list-store.ts'
import type { ListStore } from './list-store.ts'
import type { ApprovedRanges } from './list-ranges.ts'
import { createShield } from './shield.ts'
import type { Shield } from './shield.ts'
import { shieldFile } from './store.ts'

const trackedFile = '/proc/sys/net/netfilter/nf_conntrack_count'

/** How many connections the kernel tracks; 0 also where it can track none. */
const trackedConnections = (): number => Number(readText(trackedFile) ?? 0) || 0

/** The netlink socket of the launcher, or else the nft program. */
export const openKernel = (nft: readonly string[], connection: NetlinkConnection | null): Kernel =>
  connection === null ? createNftKernel(nft) : createNetlinkKernel(connection, nft)

type Needs = Parameters<typeof createShield>[0]

/** The shield of this host, and the fleet bans and blocklists on its disk. */
export const openShield = (
  needs: Omit<Needs, 'file' | 'fallbackFile' | 'beside' | 'lists' | 'trackedConnections' | 'steadyNow' | 'bootNow'> & {
    stateDirectory: string
    /** Wide ranges that lists may hold; null: all. */
    approvedInLists: () => ApprovedRanges
  },
): { readonly shield: Shield; readonly fleet: FleetStore; readonly lists: ListStore } => {
  const fleet = openFleetStore(needs.stateDirectory)
  const lists = openListStore(needs.stateDirectory, needs.approvedInLists)
  const shield = createShield({
    ...needs,
    file: shieldFile(needs.stateDirectory),
    fallbackFile: join(needs.stateDirectory, 'shield.nft'),
    beside: fleet.wanted,
    lists: lists.lists,
    trackedConnections,
    steadyNow: () => performance.now(),
    bootNow: steadyNow,
  })
  return { shield, fleet, lists }
}
