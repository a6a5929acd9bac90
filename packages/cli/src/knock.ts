import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { Misuse } from './failure.ts'
import { knockAt, targetOf } from './knocking.ts'
import { print, printJson } from './print.ts'
import { wholeOf } from './times.ts'

const delays = { minimum: 10, maximum: 10_000, default: 200 } as const

const portsOf = (text: string, before: readonly number[] | undefined): number[] => {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new InvalidArgumentError('A port is a number from 1 to 65535.')
  return [...(before ?? []), port]
}
const delayOf = (text: string): number => {
  const milliseconds = wholeOf(text)
  if (milliseconds < delays.minimum || milliseconds > delays.maximum)
    throw new InvalidArgumentError(`Give milliseconds from ${delays.minimum} to ${delays.maximum}.`)
  return milliseconds
}

interface Options {
  readonly udp?: boolean
  readonly delay: number
  readonly ipv4?: boolean
  readonly ipv6?: boolean
}

/** Needs no server and no key: the packets themselves are the message. */
export const addKnock = (program: Command): void => {
  program
    .command('knock')
    .description('knock at ports of a host, in that order (needs no API key)')
    .argument('<host>', 'its name or address')
    .argument('<ports...>', 'two to ten, as the sequence says', portsOf)
    .option('--udp', 'by UDP, in place of TCP')
    .addOption(
      new Option('--delay <milliseconds>', 'between two knocks at most').argParser(delayOf).default(delays.default),
    )
    .option('-4, --ipv4', 'by IPv4 only')
    .option('-6, --ipv6', 'by IPv6 only')
    .action(async (host: string, ports: readonly number[], options: Options, command: Command) => {
      if (options.ipv4 && options.ipv6) throw new Misuse('Choose one of -4 and -6.')
      if (ports.length < 2 || ports.length > 10) throw new Misuse('Give the 2 to 10 ports of the sequence.')
      const protocol = options.udp ? 'udp' : 'tcp'
      const target = await targetOf(host, options.ipv4 ? 4 : options.ipv6 ? 6 : null)
      await knockAt(target, ports, protocol, options.delay)
      if (command.optsWithGlobals<{ json?: boolean }>().json)
        return printJson({ host, address: target.address, protocol, ports })
      print(
        `Knocked at ${target.address} by ${protocol.toUpperCase()}: ${ports.join(', ')}. If the sequence was right, the port is open now.`,
      )
    })
}
