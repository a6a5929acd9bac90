import { createHash, randomBytes, sign } from 'node:crypto'
import type { KeyPairKeyObjectResult } from 'node:crypto'
import {
  canonicalJson,
  sealMessage,
  sealTree,
  statedParams,
  writeOperatorKey,
} from '../../packages/contract/src/seal.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** What an operator signs with an Ed25519 key, and the key as hosts trust it. */
export const sealedBy = ({ publicKey, privateKey }: KeyPairKeyObjectResult, name: string) => {
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const fingerprint = createHash('sha256').update(spki).digest('base64').replace(/=+$/, '')
  return {
    key: writeOperatorKey({ kind: 'ed25519', name, spki: spki.toString('base64url') }),
    async seal(type: string, params: Record<string, unknown>, target: string) {
      const issued = Math.floor(Date.now() / 1000)
      const times = { issued, expires: issued + 600 }
      const nonce = randomBytes(16).toString('base64url')
      const stated = await statedParams(params, sha256)
      const statement = canonicalJson({ v: 1, type, params: stated, target, nonce, ...times })
      const { root } = await sealTree([statement], sha256)
      const signature = sign(null, sealMessage(root), privateKey).toString('base64url')
      return { statement, proof: [], signature: { kind: 'ed25519', key: `SHA256:${fingerprint}`, signature } }
    },
  }
}
