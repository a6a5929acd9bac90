import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'

/* The server makes the options, by the same library. */

export const create = async (options: Record<string, unknown>) => {
  const made = await startRegistration({
    optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON,
  })
  return { ...made, clientExtensionResults: { ...made.clientExtensionResults } }
}
export const get = async (options: Record<string, unknown>) => {
  const answer = await startAuthentication({ optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON })
  return { ...answer, clientExtensionResults: { ...answer.clientExtensionResults } }
}
