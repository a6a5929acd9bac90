import { number } from '../../lib/numbers.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'
import { plural } from '../../lib/texts/catalogue.ts'

const en = {
  banned: (ip: string, where: string) => `Banning ${ip} on ${where}…`,
  fleetBanned: (ip: string, tags: string) =>
    tags === '' ? `Banning ${ip} on all servers…` : `Banning ${ip} on servers with ${tags}…`,
  fleetBanLifted: (ip: string) => `The ban of ${ip} is lifted again.`,
  unbanned: (ip: string, jail: string, where: string) => `Unbanning ${ip} from ${jail} on ${where}…`,
  unbannedEverywhere: (ip: string, where: string) => `Unbanning ${ip} on ${where}…`,
  whitelisted: (what: string) => `${what} is on the whitelist.`,
  unlisted: (what: string) => `${what} is off the whitelist.`,
  syncing: (count: number) =>
    plural(count, {
      one: 'Syncing the whitelist to 1 server.',
      other: `Syncing the whitelist to ${number(count)} servers.`,
    }),
  unlistedMany: (count: number) =>
    plural(count, { one: '1 entry is off the whitelist.', other: `${number(count)} entries are off the whitelist.` }),
  enabled: (jail: string, where: string) => `Enabling ${jail} on ${where}…`,
  disabled: (jail: string, where: string) => `Disabling ${jail} on ${where}…`,
  whitelistedMany: (count: number) =>
    plural(count, { one: '1 entry is on the whitelist.', other: `${number(count)} entries are on the whitelist.` }),
  addresses: (count: number) => plural(count, { one: '1 address', other: `${number(count)} addresses` }),
  show: 'Show it',
  cancelled: 'Undone before it ran.',
  failed: 'It had failed: there is nothing to undo.',
  opposite: (what: string) => `It had run already. The opposite is on its way: ${what}.`,
  opposites: (count: number) =>
    plural(count, {
      one: 'It had run already. The opposite is on its way.',
      other: `It had run already on ${number(count)} servers. The opposite is on its way there.`,
    }),
  bannedAgain: (ip: string) => `${ip} is off the whitelist, and its bans are on their way back.`,
  delisted: 'It is off the whitelist again. Bans that it lifted stay lifted.',
  delistedMany: (count: number) =>
    plural(count, {
      one: '1 entry is off the whitelist again. Bans that it lifted stay lifted.',
      other: `${number(count)} entries are off the whitelist again. Bans that they lifted stay lifted.`,
    }),
  listed: (what: string) => `${what} is on the whitelist again.`,
  listedMany: (count: number) =>
    plural(count, {
      one: '1 entry is on the whitelist again.',
      other: `${number(count)} entries are on the whitelist again.`,
    }),
  left: 'It stays as it is.',
  leftPartly: 'Where it waited it is undone. Where it had run already it stays as it is.',
  impossible: 'It had run already, and can not be undone from here.',
  trouble: (why: string) => `Could not undo it: ${why}`,
}
export const undoTexts: Catalogue<typeof en> = { name: 'undo', en }
