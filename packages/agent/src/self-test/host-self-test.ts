import { networkInterfaces } from 'node:os'
import { readText } from '../files.ts'
import { canonicalIp, isOwnGround } from '../ip.ts'
import type { Options } from '../options.ts'
import { forwardedPorts } from '../protection/checks/published.ts'
import { createNftListings } from '../protection/firewall/nft-listings.ts'
import { createEngineTest } from './engine-test.ts'
import { listeningPorts } from './probe.ts'
import { createSelfTest } from './self-test.ts'
import type { Asked } from './self-test.ts'

/** This host's addresses without loopback and link-local. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .flatMap(({ address }) => canonicalIp(address) ?? [])
    .filter(address => !isOwnGround(address))

/** The command `self-test` of this host. */
export const createHostSelfTest = (
  needs: Pick<Parameters<typeof createSelfTest>[0], 'testBan'> &
    Pick<Parameters<typeof createEngineTest>[0], 'engine' | 'config' | 'loader' | 'probe' | 'now'> & {
      options: Pick<Options, 'nft' | 'state'>
    },
): ((asked: Asked) => Promise<string>) => {
  const { options } = needs
  const steadyNow = (): number => performance.now()
  const engineTest = createEngineTest({
    ...needs,
    stateDirectory: options.state,
    steadyNow,
  })
  return createSelfTest({
    ...needs,
    engineTest,
    addresses: ownAddresses,
    ports: () => listeningPorts([readText('/proc/net/tcp'), readText('/proc/net/tcp6')]),
    published: () => forwardedPorts(createNftListings({ nft: options.nft, generation: () => null })),
    steadyNow,
  })
}
