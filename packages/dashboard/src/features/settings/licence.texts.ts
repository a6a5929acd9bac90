import type { Catalogue } from '../../lib/texts/catalogue.ts'
import { plural } from '../../lib/texts/catalogue.ts'

const en = {
  what: 'the licence',
  tiers: { personal: 'Personal', pro: 'Pro' } as Readonly<Record<string, string>>,
  title: 'Your licence',
  tier: 'Tier',
  servers: 'Servers',
  used: (used: string, limit: string) => `${used} of ${limit} used`,
  full: 'No server can be added until one is deleted or a larger licence is active. Those that are there go on.',
  over: 'There are more servers than it covers. All of them go on; none can be added.',
  room: (left: number, words: string) =>
    `${plural(left, { one: '1 more can be added.', other: `${words} more can be added.` })} At the limit nothing stops, only new ones are refused.`,
  state: 'State',
  expires: 'Valid until',
  expired: 'Expired on',
  forGood: 'For good',
  owner: 'Registered to',
  features: 'Features',
  featureNames: {
    reputation: 'Reputation look-ups and reports',
    custom_templates: 'Templates of your own',
    siem: 'Forwarding to a SIEM',
    port_knocking: 'Port knocking',
    terminal: 'Terminal',
  },
  included: 'Included',
  notIncluded: 'Not included',
  states: { none: 'None', active: 'Active', expired: 'Expired', invalid: 'Not valid' },
  stateHelp: {
    none: 'The personal tier counts, which needs no licence.',
    active: '',
    expired: 'The personal tier counts until another is active. What runs goes on.',
    invalid:
      'The stored one is not signed by the authority that this server trusts: the personal tier counts. What runs goes on.',
  },
  noAuthority:
    'This server trusts no licence authority yet. Set STOCKADE_LICENSE_PUBLIC_KEY to the public key of yours and restart it.',
  enter: 'Enter a licence key',
  key: 'Licence key',
  keyHelp: 'All of it, from “stk1.” to its end. It is checked here, nothing is sent elsewhere.',
  keyWrong: 'This is no whole licence key. Copy all of it, from “stk1.” to its end.',
  says: 'This key says',
  smaller: (limit: string, used: string) =>
    `It covers ${limit} servers, and ${used} are there: they go on, and none can be added.`,
  activate: 'Activate',
  done: 'The licence is active.',
}
export const licenceTexts: Catalogue<typeof en> = { name: 'licence', en }
