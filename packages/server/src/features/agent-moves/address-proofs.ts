import { createHmac } from 'node:crypto'
import { addressClaimText } from '@stockade/contract/address-proof.ts'
import type { AddressOrigin } from '@stockade/contract/address-proof.ts'
import type { BodyOf, ReplyOf, agentMoves as contract } from '@stockade/contract'
import type { Config } from '../../config.ts'
import { webAddress } from '../../core/checks.ts'
import type { Clock } from '../../core/clock.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Database } from '../../db/database.ts'
import { findKey } from '../keys/keys.store.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'

export interface AddressProofs {
  /** Proves to a host that this server stores its key, and says whether the address is one of this server's. */
  prove(asked: BodyOf<typeof contract.proveAddress>): Promise<ReplyOf<typeof contract.proveAddress>>
}

export const createAddressProofs = (needs: {
  db: Database
  clock: Clock
  config: Pick<Config, 'baseUrl'>
  secrets: Secrets
  settings: Pick<SettingsService, 'get'>
  registry: Pick<Registry, 'byId'>
  servedPin: () => string | null
}): AddressProofs => {
  const { db, clock, config, secrets, settings, registry, servedPin } = needs

  const originOf = (address: string): AddressOrigin => {
    const url = webAddress(address)
    if (url === null) return null
    if (config.baseUrl !== null && webAddress(config.baseUrl) === url) return 'configuration'
    return webAddress(settings.get('service.site_url') ?? '') === url ? 'settings' : null
  }
  /** SHA-256 of the host's present key, in hex. A stranger's question costs the same look-up. */
  const keyHashOf = async (serverId: string): Promise<string | null> => {
    const row = await findKey(db.read, registry.byId(serverId)?.row.agent_key_id ?? 0)
    return row && (row.expires_at === null || row.expires_at > clock()) ? row.hash : null
  }

  return {
    async prove({ server_id, nonce, address }) {
      const serverId = server_id.toLowerCase()
      const knownAs = originOf(address)
      const tlsKey = servedPin()
      // Nobody knows the key of a server that does not exist. Its answer is as steady as a real one, or asking twice would tell them apart.
      const nobodys = secrets.digest(`address proof of ${serverId}`)
      const key = Buffer.from((await keyHashOf(serverId)) ?? nobodys, 'hex')
      const proof = createHmac('sha256', key)
        .update(addressClaimText({ nonce, serverId, address, knownAs, tlsKey }))
        .digest('hex')
      return { proof, known_as: knownAs, tls_key: tlsKey }
    },
  }
}
