import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  sealed: 'Signed commands',
  sealedBy: (types: string, names: string) => `Takes ${types} only signed by ${names}.`,
  sealedError: (why: string) => `No command is taken: ${why}`,
  badge: 'Quarantined',
  since: (by: string, reason: string) => `In quarantine by ${by}: ${reason}`,
  means: 'Its reports are refused, its commands wait, and its bans do not count.',
  cloned: (ip: string) =>
    `Two servers report with the identity of this server${ip && `, one of them from ${ip}`}. Neither gets commands. Switch the copy off, or enrol it on its own.`,
  settle: 'Settled: send commands again',
  settled: 'Commands go out again.',
  title: 'Quarantine',
  text: 'For a server whose agent or key may be in wrong hands. Its reports are refused, its commands wait, and its bans leave the statistics. Nothing is deleted.',
  reason: 'Reason',
  reasonMissing: 'Enter a reason.',
  start: 'Put in quarantine',
  release: 'Release from quarantine',
  released: 'The server is released.',
  forget: 'Forget its reports…',
  forgetText:
    'Every ban that it reported since then is deleted. What the bans did on servers stays. This can’t be undone. Type the name of the server to confirm.',
  forgetSince: 'Reported since',
  forgetVerb: 'Forget them',
  forgotten: (count: number) =>
    plural(count, { one: '1 ban is forgotten.', other: `${number(count)} bans are forgotten.` }),
  keys: 'Keys of its agent',
  used: 'Last used',
  never: 'Never used',
  endKey: 'End',
  endKeyOf: (prefix: string) => `End the key ${prefix}`,
  endKeyText: (prefix: string) =>
    `What uses ${prefix}… is refused from then on. Where it is the agent’s own, the server has to be installed again.`,
  insecure:
    'This command is sent unencrypted: anyone on the network path can change what root runs. Put a proxy with https in front of Stockade, set the site URL to https, and create a new command.',
}
export const guardTexts: Catalogue<typeof en> = { name: 'guard', en }
