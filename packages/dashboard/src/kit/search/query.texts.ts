import type { Catalogue } from '../../lib/texts/catalogue.ts'

/** What the search of each list looks through, and what its fields mean. */
const en = {
  freeText: {
    bans: 'An address or its beginning, or else a jail, server, network, country or city.',
    commands: 'The type, server, parameters, output or user.',
    audit: 'The user, action, address or details.',
    servers: 'The name, address or description.',
  },
  meanings: {
    bans: {
      ip: 'Address or CIDR range',
      jail: 'Jail that banned',
      server: 'Host name of the server',
      tag: 'A tag of the server',
      country: 'Two-letter country code, ZZ for unknown',
      city: 'City, if it is known',
      asn: 'Number of the network',
      org: 'Organization behind the network',
      state: 'Active, expired or lifted',
      reported: 'Reported to the reputation database',
      score: 'Reputation score, 0 to 100',
      by: '"engine", or who ordered the ban',
      times: 'Bans of the same address',
      log: 'Text of the log lines',
      permanent: 'Without an end',
      banned: 'Time of the ban',
    },
    commands: {
      type: 'Type of the command',
      server: 'Host name of the server',
      tag: 'A tag of the server',
      offline: 'Whether the server is offline now',
      by: 'Who queued it',
      status: 'Status of the command',
      params: 'Text of the parameters',
      output: 'Text of the output',
      batch: 'Id of the batch',
      created: 'Time at which it was queued',
    },
    audit: {
      user: 'User, key:NAME or system',
      action: 'Action, or its beginning up to a dot',
      ip: 'Address or CIDR range of the request',
      details: 'Text of the details',
      at: 'Time of the entry',
    },
    servers: {
      name: 'Host name',
      ip: 'Address or CIDR range',
      status: 'Status of the server',
      protection: 'Level of protection',
      description: 'Text of the description',
      os: 'Operating system',
      engine: 'Version of fail2ban',
      tag: 'A tag of the server',
      agent: 'Version of the agent',
      jail: 'Has a jail of this name',
    },
  },
}
export const queryTexts: Catalogue<typeof en> = { name: 'query', en }
