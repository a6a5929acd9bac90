import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'

/* The server makes the options, by the same library; the contract says only that they are an object. */

type Given = Record<string, unknown>
const isRequest = (options: Given): options is Given & PublicKeyCredentialRequestOptionsJSON => 'challenge' in options
const isCreation = (options: Given): options is Given & PublicKeyCredentialCreationOptionsJSON => 'user' in options
const incomplete = () => new TypeError('incomplete options')

export const create = async (options: Given) => {
  if (!isCreation(options)) throw incomplete()
  const credential = await startRegistration({ optionsJSON: options })
  return { ...credential, clientExtensionResults: { ...credential.clientExtensionResults } }
}
export const get = async (options: Given) => {
  if (!isRequest(options)) throw incomplete()
  const answer = await startAuthentication({ optionsJSON: options })
  return { ...answer, clientExtensionResults: { ...answer.clientExtensionResults } }
}
