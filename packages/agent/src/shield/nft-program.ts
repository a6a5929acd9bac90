import { runProgram, timedOut } from '../process.ts'
import { cleanText } from '../text.ts'
import { KernelRefused } from './kernel.ts'

const readTimeout = 20_000
const loadTimeout = 120_000
/** A script without elements. */
export const shortScript = 20_000

const isAbsent = (stderr: string): boolean => /No such file or directory|does not exist/.test(stderr)

/** Executes a script as one transaction. @throws KernelRefused */
export const loadScript = async (nft: readonly string[], script: string, timeout = loadTimeout): Promise<void> => {
  const ran = await runProgram([...nft, '-f', '-'], { timeout, input: script })
  if (ran.code !== 0) throw refusal(ran)
}

/** The standard output; null if what was asked for does not exist. @throws KernelRefused */
export const readFromNft = async (nft: readonly string[], args: readonly string[]): Promise<string | null> => {
  const ran = await runProgram([...nft, ...args], { timeout: readTimeout })
  if (ran.code === 0) return ran.stdout
  if (ran.code !== 127 && isAbsent(ran.stderr)) return null
  throw refusal(ran)
}

const refusal = ({ code, stderr }: { code: number; stderr: string }): KernelRefused => {
  if (code === 127) return new KernelRefused('the program nft (nftables) is not installed on this host', 'ENOENT')
  if (code === timedOut) return new KernelRefused(`the program ${stderr}`, '')
  if (/Protocol not supported|cache initialization failed: (?:Invalid|Operation not supported)/i.test(stderr))
    return new KernelRefused('the kernel of this host has no nf_tables', '')
  if (/Operation not permitted|must be root/i.test(stderr))
    return new KernelRefused('the agent is not allowed to change nftables (it needs CAP_NET_ADMIN)', 'EPERM')
  if (/Too many open files/.test(stderr)) return new KernelRefused('the shield is full', 'ENFILE')
  const first = cleanText(stderr.split('\n').find(line => line.includes('rror')) ?? stderr).trim()
  const words = first.replace(/^\S*:\d+:\d+-\d+: /, '').slice(0, 300)
  return new KernelRefused(`nftables of this host refused: ${words || `exit code ${code}`}`, '')
}
