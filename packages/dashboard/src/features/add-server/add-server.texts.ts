import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Add a server',
  titleOf: (name: string) => `Add ${name}`,
  what: 'the server',

  step2: 'Run on the server, as a user with sudo',

  name: 'Name',
  nameHelp: 'Shown in Stockade, such as web-01.',
  nameMissing: 'Enter a name of 1 to 253 characters.',
  description: 'Description',
  descriptionHelp: 'Optional. Its purpose or location.',
  create: 'Create the command',
  commandLabel: 'Command to run on the server',
  command:
    'The command downloads the agent, verifies it and starts it as a service. It changes nothing in your fail2ban configuration.',
  worksOnce: (left: string) => `Valid for ${left}, works once.`,
  expired: 'The command has expired.',
  hiddenCommand:
    'The command is shown only once, when it is created. Create a new one to continue; the old one stops working.',
  newCommand: 'Create a new command',
  lines: {
    called: 'Command run',
    heartbeat: 'Server connected',
    jails: 'Jails read',
    protected: 'Protection checked',
    ban: 'First ban',
  },
  calledWaiting: 'Waiting for the command to be run.',
  scriptFetched: (time: string) => `A server downloaded the installer at ${time}. Waiting for it to connect.`,
  tokenUsed: (from: string, time: string) => `From ${from}, ${time}`,
  heartbeatNext: 'The agent reports every 30 s.',
  heartbeatDone: (host: string, os: string, engine: string) => `${host} · ${os} · fail2ban ${engine}`,
  noEngine: 'no answer from fail2ban',
  unknownOs: 'unknown system',
  jailsNone: 'The agent found no enabled jail.',
  banWaiting: 'Waiting for the first ban by fail2ban. This can take minutes or hours.',
  banDone: (time: string) => `Reported at ${time}.`,
  testBan: 'Make a test ban',
  testBanHelp: 'Bans 192.0.2.1 for 60 s, an address reserved for documentation.',
  testBanSent: 'Test ban sent.',
  testReason: 'Test ban',
  stalledCall: 'Nothing from this server yet. Usual causes:',
  stalledCallCauses: (address: string) => [
    `The server can’t reach ${address}. Try on the server: curl -I ${address}`,
    'A firewall between the server and Stockade blocks the connection.',
    'Only part of the command was pasted. It ends with the token.',
  ],
  stalledHeartbeat: 'The command ran, but the agent does not report yet. See its latest messages on the server:',
  journal: 'journalctl -u stockade-agent -n 50',
  journalLabel: 'Command that shows the messages of the agent',
  noEngineHelp: 'fail2ban does not answer on this server. On Debian and Ubuntu, this installs it:',
  engineInstall: 'sudo apt-get install -y fail2ban',
  engineInstallLabel: 'Command that installs fail2ban',
  noJailsHelp: 'To protect SSH, add this to /etc/fail2ban/jail.local and run: sudo fail2ban-client reload',
  jailConfig: '[sshd]\nenabled = true',
  jailConfigLabel: 'Lines for jail.local',
  leaving: 'You can leave this page. The server waits in the list with “Continue”.',
  toServer: 'View server',
  another: 'Add another server',
  toBans: 'View its bans',
  gone: 'This server does not exist. It may have been deleted.',
  firstTitle: 'Protect your first server',
  intro:
    'Run one line on the server you want to protect. It installs the agent, finds its jails and reports back here. Your fail2ban configuration stays as it is.',
  waitingFor: (name: string) => `Waiting for ${name}`,
  arrived: (name: string) => `${name} is set up`,
  localhost: (address: string) =>
    `The command points to ${address}. On another server that means the server itself, so it can’t reach Stockade.`,
  toAddress: 'Change the URL',
  protectedNext: 'Engine, logs, firewall, whitelist',
  protectedDone: {
    protected: 'Protected',
    degraded: 'Degraded. The page of the server says why.',
    unprotected: 'Unprotected. The page of the server says why.',
  } as Readonly<Record<string, string>>,
  meanwhile: 'Meanwhile',
  meanwhileAside: '3 things worth two minutes',
  things: {
    whitelist: ['Whitelist your own address', 'So that a typo never locks you out.', 'Whitelist'],
    admin: ['Invite a second admin', 'One lost phone should lock nobody out.', 'Invite'],
    alerts: ['Choose where alerts go', 'Email, Slack or a webhook. Test it at once.', 'Set up'],
  } as const satisfies Record<string, readonly [string, string, string]> as Readonly<
    Record<'whitelist' | 'admin' | 'alerts', readonly [string, string, string]>
  >,
}
export const addServerTexts: Catalogue<typeof en> = { name: 'add-server', en }
