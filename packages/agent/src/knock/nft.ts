import { asFields, asInteger, asList, asText } from '../json.ts'
import { runProgram } from '../process.ts'
import { cleanText } from '../text.ts'
import { entranceChain, eventSets, ofMark, tableName } from './rules.ts'
import type { Kind } from './rules.ts'

/** nft refused a command. */
export class NftRefused extends Error {
  /** This host does not support it; otherwise the cause may be temporary. */
  readonly unable: boolean
  /** No other form of the script would work either. */
  readonly hopeless: boolean
  constructor(message: string, why: { unable: boolean; hopeless: boolean }) {
    super(message)
    this.unable = why.unable
    this.hopeless = why.hopeless
  }
}

/** An element of an event set: an address and what it did. */
export interface Seen {
  readonly sequence: number
  readonly kind: Kind
  readonly ip: string
  /** How often, since the element was created. */
  readonly count: number
  /** Whole seconds (truncated) until the element expires; each repetition restarts them. */
  readonly expires: number
}

const readTimeout = 20_000
/** The kernel takes a thousand sequences in about half a minute. */
const loadTimeout = 120_000
/** The largest list that is read; an element of a full set takes about 150 bytes. */
const maxOutputBytes = 16 * 1024 * 1024

export interface Nft {
  /** Executes a script as one transaction. @throws NftRefused */
  load(script: string): Promise<void>
  /** Names of the chains and sets of our table; null if there is none. Expensive: nft reads every set. */
  present(): Promise<string[] | null>
  /** A mark of the chain that all packets pass, which changes with its rules; empty or null if it is gone. */
  entrance(): Promise<string | null>
  /** The content of the event sets; null if they are gone. Reads them one by one, to leave out the allow list. */
  seen(): Promise<Seen[] | null>
  /** The addresses in a set, with the seconds that each has left; empty if the set is gone. */
  addresses(set: string): Promise<{ ip: string; expires: number }[]>
  /** Removes our table, if there is one. */
  remove(): Promise<void>
}

/** All that port knocking does with nftables, through the nft program. */
export const createNft = (command: readonly string[]): Nft => {
  const run = (args: readonly string[], input?: string) =>
    runProgram([...command, ...args], {
      timeout: input === undefined ? readTimeout : loadTimeout,
      maxOutput: maxOutputBytes,
      ...(input === undefined ? {} : { input }),
    })

  return {
    async load(script: string): Promise<void> {
      const ran = await run(['-f', '-'], script)
      if (ran.code !== 0) throw refusal(ran)
    },
    async present(): Promise<string[] | null> {
      const ran = await run(['-t', 'list', 'table', 'inet', tableName])
      if (ran.code === 0) return [...ran.stdout.matchAll(/^\t(?:set|chain) (\S+) \{/gm)].map(([, name]) => name ?? '')
      if (isAbsent(ran.stderr)) return null
      throw refusal(ran)
    },
    async entrance(): Promise<string | null> {
      const ran = await run(['list', 'chain', 'inet', tableName, entranceChain])
      if (ran.code === 0) return ran.stdout
      if (isAbsent(ran.stderr)) return null
      throw refusal(ran)
    },
    async seen(): Promise<Seen[] | null> {
      const elements: Seen[] = []
      for (const name of eventSets) {
        const ran = await run(['-j', 'list', 'set', 'inet', tableName, name])
        if (ran.code !== 0 && isAbsent(ran.stderr)) return null
        if (ran.code !== 0) throw refusal(ran)
        for (const { value, expires, count } of elementsOf(ran.stdout)) {
          const [ip, mark] = asList(asFields(value)['concat'])
          const meant = ofMark(asInteger(mark, -1))
          if (meant !== null && typeof ip === 'string') elements.push({ ...meant, ip, count, expires })
        }
      }
      return elements
    },
    async addresses(set: string): Promise<{ ip: string; expires: number }[]> {
      const ran = await run(['-j', 'list', 'set', 'inet', tableName, set])
      if (ran.code !== 0) return []
      return elementsOf(ran.stdout).flatMap(({ value, expires }) =>
        typeof value === 'string' ? [{ ip: value, expires }] : [],
      )
    },
    async remove(): Promise<void> {
      const ran = await run(['delete', 'table', 'inet', tableName])
      if (ran.code !== 0 && !isAbsent(ran.stderr)) throw refusal(ran)
    },
  }
}

const elementsOf = (json: string): { value: unknown; expires: number; count: number }[] => {
  const set = asList(asFields(JSON.parse(json))['nftables'])
    .map(item => asFields(asFields(item)['set']))
    .find(fields => asText(fields['name']) !== '')
  return asList(set?.['elem']).map(item => {
    const element = asFields(asFields(item)['elem'])
    return {
      value: element['val'],
      expires: asInteger(element['expires'], 0),
      count: asInteger(asFields(element['counter'])['packets'], 0),
    }
  })
}

const isAbsent = (stderr: string): boolean => /No such file or directory|does not exist/.test(stderr)

const refusal = ({ code, stderr }: { code: number; stderr: string }): NftRefused => {
  const hopeless = { unable: true, hopeless: true }
  if (code === 127) return new NftRefused('the program nft (nftables) is not installed on this host', hopeless)
  if (/Operation not permitted|must be root/i.test(stderr))
    return new NftRefused('the agent is not allowed to change nftables (it needs CAP_NET_ADMIN)', hopeless)
  const first = cleanText(stderr.split('\n').find(line => line.includes('rror')) ?? stderr).trim()
  const says = first.replace(/^\S*:\d+:\d+-\d+: /, '').slice(0, 300)
  const unable = /not supported|No such file or directory|syntax error|Invalid argument/i.test(stderr)
  return new NftRefused(`nftables of this host does not take the rules: ${says || `exit code ${code}`}`, {
    unable,
    hopeless: false,
  })
}
