import { plural } from '../texts/catalogue.ts'
import type { Catalogue } from '../texts/catalogue.ts'

const en = {
  skip: 'Skip to the content',
  navigation: 'Main',
  bans: 'Bans',
  servers: 'Servers',
  admin: 'Admin',
  users: 'Users',
  settings: 'Settings',
  live: 'Live',
  catchingUp: 'Catching up',
  connecting: 'Connecting',
  liveOff: 'Live off, every 15 s',
  offlineSince: (time: string) => `Offline since ${time}`,
  stale: (time: string) => `The server has not answered since ${time}. What you see may be out of date.`,
  retry: 'Retry',
  connection: 'Connection',
  account: (name: string) => `Account of ${name}`,
  signedInAs: (name: string, role: string) => `${name} · ${role}`,
  profile: 'Profile',
  security: 'Security',
  keys: 'API keys',
  theme: 'Appearance',
  themes: { auto: 'As the system', light: 'Light', dark: 'Dark' },
  exactTimes: 'Show exact times',
  relativeTimes: 'Show relative times',
  signOut: 'Log out',
  limited: (count: number) =>
    plural(count, {
      one: 'You see the one server that you have access to.',
      other: `You see the ${count} servers that you have access to.`,
    }),
  notFoundTitle: 'Nothing here',
  notFound: 'There is no page at this address. It may have been mistyped, or what it showed was removed.',
  toServers: 'Go to the servers',
  toBans: 'Go to the bans',
  forbiddenTitle: 'Not for your role',
  forbidden: (role: string, needed: string) =>
    `This page is for the role ${needed}. You are signed in as ${role}. Ask an admin if you need it.`,
  forbiddenOther: 'You have no access to this. Ask an admin if you need it.',
  brokenTitle: 'This page broke',
  broken: 'The rest of the dashboard still works. Reloading may help; if it does not, report the message below.',
  reload: 'Reload',
  newVersion: 'The dashboard was updated. Reload to go on.',
}
export const shellTexts: Catalogue<typeof en> = { en }
