import type { Catalogue } from '../../lib/texts/catalogue.ts'
import { plural } from '../../lib/texts/catalogue.ts'

const en = {
  what: 'the licence',
  tiers: { personal: 'Personal', pro: 'Pro' } as Readonly<Record<string, string>>,
  title: 'Your licence',
  tier: 'Tier',
  servers: 'Servers',
  used: (used: string, limit: string) => `${used} of ${limit} used`,
  full: 'At the limit: existing servers keep working, new ones are refused.',
  over: 'More servers than the licence covers. All keep working; none can be added.',
  room: (left: number, words: string) =>
    `${plural(left, { one: '1 more can be added.', other: `${words} more can be added.` })} At the limit nothing stops, only new ones are refused.`,
  state: 'State',
  expires: 'Valid until',
  expired: 'Expired on',
  forGood: 'No expiry',
  owner: 'Registered to',
  features: 'Features',
  featureNames: {
    reputation: 'Reputation look-ups and reports',
    custom_templates: 'Custom templates',
    siem: 'SIEM forwarding',
    port_knocking: 'Port knocking',
    terminal: 'Terminal',
  },
  included: 'Included',
  notIncluded: 'Not included',
  states: { none: 'None', active: 'Active', expired: 'Expired', invalid: 'Not valid' },
  stateHelp: {
    none: 'The Personal tier applies. It needs no licence.',
    active: '',
    expired: 'The Personal tier applies until you activate another licence. Everything that runs keeps running.',
    invalid:
      'The stored one is not signed by the authority that this server trusts: the personal tier counts. What runs goes on.',
  },
  noAuthority:
    'This server trusts no licence authority yet. Set STOCKADE_LICENSE_PUBLIC_KEY to the public key of yours and restart it.',
  enter: 'Enter a licence key',
  key: 'Licence key',
  keyHelp: 'The whole key, from “stk1.” to its end. It is checked here and sent nowhere.',
  keyWrong: 'Not a complete licence key. Copy it from “stk1.” to its end.',
  says: 'This key says',
  smaller: (limit: string, used: string) =>
    `It covers ${limit} servers, and ${used} are there: they go on, and none can be added.`,
  activate: 'Activate',
  done: 'The licence is active.',
  issue: 'Issue a licence for this installation',
  toLicence: 'Go to the licence',
  askAdmin: 'It needs a Pro licence. An admin can issue one here, in one step.',
  issueTitle: 'Use all features',
  issueAbout:
    'Stockade can issue a Pro licence for itself. It makes its own signing key, and nothing is sent anywhere.',
}
export const licenceTexts: Catalogue<typeof en> = { name: 'licence', en }
