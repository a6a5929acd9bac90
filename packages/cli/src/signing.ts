import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { errorText } from '@stockade/contract/error-code.ts'
import type { Command } from 'commander'
import type { Client } from '@stockade/client'
import type { Command as Order } from '@stockade/contract/command-types/index.ts'
import { checkPrepared } from '@stockade/contract/prepared.ts'
import { canonicalJson, sealMessage, sealTree, writeOperatorKey } from '@stockade/contract/seal.ts'
import { agree, namesOf } from './ask.ts'
import { Failure, Misuse } from './failure.ts'
import { print } from './print.ts'
import { safe, safeLines } from './safe.ts'

/** A server that a command goes to. */
export interface Target {
  readonly id: string
  readonly hostname: string
}

/* Commands that hosts take only with an operator's signature: what is signed is looked at here, not where the server says so. */

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

interface Signer {
  readonly privateKey: KeyObject
  /** SubjectPublicKeyInfo in DER, base64url. */
  readonly spki: string
  readonly fingerprint: string
}

const signerOf = (privateKey: KeyObject): Signer => {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const digest = createHash('sha256').update(spki).digest('base64').replace(/=+$/, '')
  return { privateKey, spki: spki.toString('base64url'), fingerprint: `SHA256:${digest}` }
}

/** The key in a PEM file; one with a passphrase takes it from STOCKADE_SIGN_PASSPHRASE. @throws Misuse with a sentence. */
const readSigner = (file: string): Signer => {
  const passphrase = process.env.STOCKADE_SIGN_PASSPHRASE
  const pem = (() => {
    try {
      return readFileSync(file)
    } catch {
      throw new Misuse(`The key ${file} can not be read.`)
    }
  })()
  try {
    const key = createPrivateKey({ key: pem, ...(passphrase === undefined ? {} : { passphrase }) })
    if (key.asymmetricKeyType === 'ed25519') return signerOf(key)
  } catch {
    throw new Misuse(`${file} holds no private key, or its passphrase in STOCKADE_SIGN_PASSPHRASE is wrong.`)
  }
  throw new Misuse(`${file} is not an Ed25519 key. Make one with: stockade operator-key new ${file}`)
}

export interface Signing {
  /** The file of the operator's key. */
  readonly sign?: string
  readonly yes?: boolean
}
export const signable = (command: Command): Command =>
  command.option('--sign <file>', "sign with this operator's key, for hosts that take it only signed")

type Prepared = Awaited<ReturnType<typeof prepare>>
type Asked = Parameters<typeof prepare>[1]
const prepare = (client: Client, body: Order & { readonly server_ids: string[] }) =>
  client.call('POST /commands/prepare', { body })

/** @throws Failure that names what is not as it was asked for. */
const check = async (prepared: Prepared, asked: Asked): Promise<void> => {
  await checkPrepared(prepared, asked, Date.now() / 1000, sha256).catch((error: unknown) => {
    throw new Failure(`The server wants ${safe(errorText(error))} signed. Nothing is signed; ask who runs it.`)
  })
}

/** What the signature will be good for, for somebody's eyes. */
const printOrder = (prepared: Prepared, asked: Asked, targets: readonly Target[], signer: Signer): string => {
  const { template } = prepared
  const carried = template
    ? `\n--- jail ${template.name} ---\n${safeLines(template.jail_config)}\n--- filter ---\n${safeLines(template.filter_config)}\n--- settings ${safe(canonicalJson(template.settings))} ---`
    : ''
  return `You sign ${asked.type} ${safe(canonicalJson(asked.params))} for ${namesOf(targets)}, good until ${prepared.expires_at}, with the key ${signer.fingerprint}.${carried}`
}

/** Queues one command for each server, signed. */
export const sendSigned = async (
  client: Client,
  file: string,
  targets: readonly Target[],
  asked: Asked,
  yes: boolean,
) => {
  const signer = readSigner(file)
  const prepared = await prepare(client, asked)
  await check(prepared, asked)
  const { root } = await sealTree(prepared.statements, sha256)
  const summary = printOrder(prepared, asked, targets, signer)
  if (yes) process.stderr.write(`${summary}\n`)
  else await agree(summary, 'Sign it?', 'Nothing was signed.')
  const signature = sign(null, sealMessage(root), signer.privateKey).toString('base64url')
  return client.call('POST /commands/sealed', {
    body: { statements: prepared.statements, signature: { kind: 'ed25519', key: signer.fingerprint, signature } },
  })
}

export const addOperatorKeys = (program: Command): void => {
  const keys = program.command('operator-key').description('keys that sign commands for hosts which ask for it')
  const printKeyLine = (signer: Signer, name: string) => {
    const line = writeOperatorKey({ kind: 'ed25519', name, spki: signer.spki })
    print(
      `${signer.fingerprint}\n\nOn each host that shall trust it, compare the fingerprint:\n  sudo stockade-agent trust add ${line}`,
    )
  }
  const usual = () => userInfo().username.slice(0, 64)
  keys
    .command('new')
    .description('make a key')
    .argument('<file>', 'where its private part goes; it is never overwritten')
    .option('--name <name>', 'whose it is, as hosts show it', usual())
    .action((file: string, { name }: { name: string }) => {
      const passphrase = process.env.STOCKADE_SIGN_PASSPHRASE
      const { privateKey } = generateKeyPairSync('ed25519')
      const locked = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem', ...locked })
      try {
        writeFileSync(file, pem, { mode: 0o600, flag: 'wx' })
      } catch (error) {
        throw new Failure(`The key can not be written: ${errorText(error)}`)
      }
      printKeyLine(signerOf(privateKey), name)
    })
  keys
    .command('show')
    .description('show the public part of a key, for hosts')
    .argument('<file>')
    .option('--name <name>', 'whose it is, as hosts show it', usual())
    .action((file: string, { name }: { name: string }) => printKeyLine(readSigner(file), name))
}
