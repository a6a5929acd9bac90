/** Every bound of the interface (docs/spec/limits.md). Sizes in bytes, times in seconds. */
export const bounds = {
  page: 100_000_000,
  body: 1024 * 1024,
  largeBody: 16 * 1024 * 1024,
  /** Bytes of a whitelist that goes with the answer to a poll: about 500 addresses. */
  whitelistInPoll: 8 * 1024,
  hostname: 253,
  /** Characters of the name of a jail, as engines report it. */
  jail: 255,
  description: 1000,
  name: 100,
  reason: 500,
  passkeyName: 64,
  passkeysPerUser: 20,
  logLines: 64 * 1024,
  commandOutput: 64 * 1024,
  seconds: 31_557_600,
  batch: 1000,
  /** Bans in one comparison of a host: all that it holds, or one of at most `banSlices` slices. */
  activeBansPerHost: 50_000,
  banSlices: 64,
  /** Channels for alerts, and characters of one field of a channel. */
  channels: 50,
  channelField: 8000,
  /** Rules of alerts of one's own, and silences at a time. */
  alertRules: 200,
  alertSilences: 200,
  /** Commands that one batch queues at most, and targets that it names one by one. */
  commands: 10_000,
  targets: 5000,
  /** Characters of a tag of servers, and tags that one server, user or key has. */
  tag: 32,
  tagsPerServer: 20,
  /** Hosts that a refusal names at most. */
  named: 100,
  /** Whitelist entries that one request adds one by one; more go through the import. */
  additions: 200_000,
  /** Commands that wait for one server, those that are queued for it in a day, and what a host reports in a day. */
  waitingCommands: 500,
  commandsPerDay: 5000,
  reportsPerDay: 1_000_000,
  users: 10_000,
  templates: 500,
  sequences: 1000,
  replays: 5,
  whitelist: 500_000,
  /** DNS names on the whitelist: how many, addresses of one, characters of a description, and seconds between two look-ups. */
  whitelistNames: { count: 100, addresses: 8, description: 500, interval: { minimum: 60, maximum: 3600 } },
  /** Fleet bans that stand at the same time. */
  fleetBans: 10_000,
  /** Fleet bans of one request. */
  bulkBans: 1000,
  /** Sharing rules; the names of one filter; the addresses that one rule never bans. */
  rules: 50,
  ruleFilters: 100,
  ruleExclusions: 1000,
  /** Enrolment tokens: how many, servers that one enrols, and seconds until it ends. */
  enrolmentTokens: { count: 100, servers: 10_000, seconds: 366 * 86_400 },
  /** Bans of their own address that a user lifts in 24 hours. */
  ownUnbans: 3,
  /** Feeds, and entries of one. */
  feeds: 100,
  reportSchedules: 50,
  feedEntries: 200_000,
  /** Characters of one parameter that a bouncer sends. */
  bouncerQuery: 1000,
  /** Blocklists: how many, entries of one, seconds between two looks, what a list names, and IPv4 addresses that it covers by default. */
  blocklists: {
    count: 50,
    /** Of these, lists of callers with access to some servers only. */
    entries: 200_000,
    interval: { minimum: 900, maximum: 7 * 86_400 },
    countries: 250,
    networks: 500,
    addresses: 2 ** 28,
  },
  /** Whitelist entries that one request takes off. */
  removals: 5000,
  results: 100,
  username: { minimum: 3, maximum: 50 },
  password: { minimum: 8, maximum: 256 },
  jailsPerHost: 1000,
  droppedPerHeartbeat: 200,
  /** Banned ids that are no address: texts of one jail, of one host, and characters of one. */
  otherIds: { perJail: 50, perHost: 200, length: 64 },
  sequencesPerHost: 1000,
  openingsPerHost: 10_000,
  preferences: 64 * 1024,
  licensedServers: 1_000_000,
  /** Networks that one API key may be used from; API keys and sessions of one user. */
  keyNetworks: 32,
  keysPerUser: 200,
  sessionsPerUser: 100,
  /** Of lines to try a template with: characters of all, how many, and characters of each. */
  sample: { length: 64 * 1024, lines: 200, line: 4096 },
} as const

/** Page sizes of the lists: default and maximum. */
export const pages = {
  servers: { default: 20, maximum: 100 },
  users: { default: 20, maximum: 100 },
  bans: { default: 50, maximum: 100 },
  fleetBans: { default: 50, maximum: 100 },
  alerts: { default: 50, maximum: 200 },
  blocklists: { default: 50, maximum: 100 },
  rollouts: { default: 20, maximum: 100 },
  ruleMatches: { default: 50, maximum: 100 },
  commands: { default: 50, maximum: 100 },
  whitelist: { default: 50, maximum: 100 },
  audit: { default: 50, maximum: 100 },
  knocks: { default: 50, maximum: 100 },
  queue: { default: 100, maximum: 1000 },
} as const

/** Times of the life of sessions, commands and hosts that both sides know. In seconds. */
export const times = {
  accessToken: 3600,
  sessionTimeout: 604_800,
  sessionMaximum: 90 * 86_400,
  installToken: 86_400,
  invite: 3 * 86_400,
  /** How long a proof of identity lets a session by cookie do what is dangerous. */
  proof: 900,
  heartbeat: 30,
  offlineAfter: 90,
  commandLease: 30,
  commandTimeout: 300,
  commandTtl: 86_400,
  /** Orders that must not surprise anyone hours later. */
  commandTtlShort: 3600,
  longPollMaximum: 55,
  defaultBan: 86_400,
  /** How far ahead the end of a whitelist entry may be: ten years. */
  whitelistMaximum: 3653 * 86_400,
} as const

/** How often a command is handed out at most, and how many one answer carries. */
export const delivery = { attempts: 3, perAnswer: 50 } as const

/** Requests a minute. */
export const rates = { standard: 100, sensitive: 10 } as const
