import { readText } from '../files.ts'
import type { Options } from '../options.ts'
import { forwardedPorts, redirectsPorts } from '../protection/checks/published.ts'
import { listeners, ownAddresses } from '../protection/firewall/facts.ts'
import { createNftListings } from '../protection/firewall/nft-listings.ts'
import { createPacketProof } from '../protection/firewall/packet-proof.ts'
import type { ProofNeeds } from '../protection/firewall/packet-proof.ts'
import { createEngineTest } from './engine-test.ts'
import { listeningPorts } from './probe.ts'
import { createSelfTest } from './self-test.ts'
import type { Asked } from './self-test.ts'

/** The command `self-test` of this host. */
export const createHostSelfTest = (
  needs: Pick<Parameters<typeof createSelfTest>[0], 'testBan'> &
    Pick<
      Parameters<typeof createEngineTest>[0],
      'engine' | 'config' | 'loader' | 'places' | 'whereabouts' | 'probe' | 'now'
    > &
    Pick<ProofNeeds, 'probeAll' | 'isShielded'> & {
      options: Pick<Options, 'nft' | 'state'>
    },
): ((asked: Asked) => Promise<string>) => {
  const { options } = needs
  const steadyNow = (): number => performance.now()
  const nft = () => createNftListings({ nft: options.nft, generation: () => null })
  const published = () => forwardedPorts(nft())
  const engineTest = createEngineTest({
    ...needs,
    createPackets: () =>
      createPacketProof({
        ...needs,
        ...{ addresses: ownAddresses, listeners, published, steadyNow },
        redirects: () => redirectsPorts(nft()),
        rules: () => Promise.resolve(''),
        whyNot: () => null,
        pace: 1,
      }),
    stateDirectory: options.state,
    steadyNow,
  })
  return createSelfTest({
    ...needs,
    engineTest,
    addresses: ownAddresses,
    ports: () => listeningPorts([readText('/proc/net/tcp'), readText('/proc/net/tcp6')]),
    published,
    steadyNow,
  })
}
