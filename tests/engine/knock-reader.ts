/**
 * Runs inside a namespace and reads the sets of port knocking there, over the netlink socket and with the nft program:
 *
 *   launcher.py node knock-reader.ts
 */
import { withSocket } from '../../packages/agent/src/knock/kernel-reader.ts'
import { createNft } from '../../packages/agent/src/knock/nft.ts'
import type { Nft } from '../../packages/agent/src/knock/nft.ts'
import { inheritedConnection } from '../../packages/agent/src/netlink/connection.ts'
import { nftablesSubsystem } from '../../packages/agent/src/netlink/tables.ts'

const connection = inheritedConnection(nftablesSubsystem)
if (connection === null) throw new Error('there is no netlink socket')

const read = async (nft: Nft) => ({ seen: await nft.seen(), entrance: await nft.entrance() })

const bySocket = await read(withSocket(createNft(['nft']), connection))
const byProgram = await read(createNft(['nft']))
process.stdout.write(`${JSON.stringify({ bySocket, byProgram })}\n`)
