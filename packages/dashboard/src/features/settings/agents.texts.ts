import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number, shown: string) => plural(count, { one: '1 server', other: `${shown} servers` })

const en = {
  title: 'Agents',
  what: 'the releases of the agent',
  whatRollouts: 'the upgrades',
  release: 'Release',
  none: 'This server offers no agent, because none was built here.',
  current: (version: string) => `Every agent runs ${version}.`,
  outdated: (count: number, shown: string, version: string) =>
    plural(count, {
      one: `1 server runs another release than ${version}.`,
      other: `${shown} servers run another release than ${version}.`,
    }),
  rebuilt: (count: number, shown: string, version: string) =>
    plural(count, {
      one: `1 server runs another build of ${version}.`,
      other: `${shown} servers run another build of ${version}.`,
    }),
  unsigned: 'Unsigned release: only servers that were installed with --allow-unsigned accept it.',
  versions: 'Versions',
  noVersion: 'Not reported yet',
  servers,
  obstacles: 'Servers that take no upgrade from here',
  upgrade: (count: number, shown: string) =>
    plural(count, { one: 'Upgrade 1 server', other: `Upgrade ${shown} servers` }),
  confirmTitle: (version: string) => `Upgrade the agents to ${version}?`,
  confirmText:
    'One server goes first, then 5, 25 and 100 % of the rest. A server puts its release back when the new agent does not reach Stockade within 60 s, and the upgrade pauses when too many fail. Bans stay in force meanwhile.',
  confirmVerb: 'Upgrade',
  latest: 'Upgrade',
  earlier: 'Earlier upgrades',
  kinds: {
    upgrade: (version: string) => `To ${version}`,
    rollback: (version: string) => `Back from ${version}`,
  },
  states: { running: 'Running', paused: 'Paused', finished: 'Finished', aborted: 'Aborted' },
  startedBy: (name: string) => `by ${name}`,
  wave: (wave: number) => `Wave ${wave}`,
  counts: {
    waiting: (count: number, shown: string) => plural(count, { one: '1 waits', other: `${shown} wait` }),
    ordered: (count: number, shown: string) => plural(count, { one: '1 upgrades', other: `${shown} upgrade` }),
    watched: (count: number, shown: string) => plural(count, { one: '1 is watched', other: `${shown} are watched` }),
    done: (_count: number, shown: string) => `${shown} done`,
    failed: (_count: number, shown: string) => `${shown} failed`,
    skipped: (_count: number, shown: string) => `${shown} skipped`,
  },
  problems: 'Servers that failed',
  more: (count: number, shown: string) => plural(count, { one: 'and 1 more', other: `and ${shown} more` }),
  pause: 'Pause',
  resume: 'Resume',
  abort: 'Abort',
  abortTitle: 'Abort this upgrade?',
  abortText: 'No further server is upgraded. Servers that have the new release keep it.',
  rollBack: 'Roll back',
  rollBackTitle: 'Return the upgraded servers to the release before?',
  rollBackText: 'Every server that this upgrade changed goes back to the release it kept. Nothing is downloaded.',
  calm: 'No agent was upgraded from here yet.',
}

export const agentsTexts: Catalogue<typeof en> = { name: 'agents', en }
