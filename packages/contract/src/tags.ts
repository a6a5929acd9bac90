/** Groups of endpoints in the API documentation, in the order in which it shows them. */
export const tags = {
  Auth: 'Sign-in, sessions, second factors and passkeys.',
  Users: 'Accounts, roles, server access and sessions.',
  'API keys': 'Keys for scripts, integrations and agents.',
  Servers: 'Managed hosts, their jails and their quarantine.',
  Agent: 'What the agent on each host calls.',
  'Agent upgrades': 'Upgrades of the agents on many hosts, in waves.',
  Commands: 'Commands that agents execute on hosts.',
  Bans: 'Bans that hosts reported, and bans that operators order.',
  Blocklists: 'Lists of addresses that somebody else keeps, held by the firewalls of servers.',
  Whitelist: 'Addresses that no server may ban.',
  Templates: 'Jail templates and their deployment.',
  Settings: 'Settings of the service, notifications, license and audit log.',
  'Port knocking': 'Ports that open only after a knock sequence.',
  SIEM: 'Event forwarding to a SIEM.',
  'Live feed': 'Changes as they happen, over a WebSocket.',
  Service: 'Health checks.',
} as const
