/* Who attacks, with what, and what the host writes about it: all addresses are of the documentation ranges. */

/** A draw that is the same in every run: a linear congruential generator (Numerical Recipes' constants). */
export const drawing = (seed: number) => {
  let state = seed
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(random() * limit)
  const pick = <T>(list: readonly T[]): T => {
    const found = list[below(list.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  return { random, below, pick }
}
export type Draw = ReturnType<typeof drawing>

/** The first quarter of 192.0.2.0/24 is the office. */
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const addresses = [
  ...numbers(64, 255).map(last => `192.0.2.${last}`),
  ...numbers(1, 255).map(last => `198.51.100.${last}`),
  ...numbers(1, 255).map(last => `203.0.113.${last}`),
  ...numbers(1, 160).map(block => `2001:db8:${block.toString(16)}::${((block * 37) % 250).toString(16)}`),
].sort((a, b) => (hash(a) < hash(b) ? -1 : 1))
function hash(text: string): number {
  return [...text].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 16_777_619) >>> 0, 7)
}
/** A few come again and again, most only a few times. */
export const anAttacker = ({ random }: Draw): string => addresses[Math.floor(addresses.length * random() ** 3)] ?? ''

export interface Attack {
  readonly ip: string
  readonly jail: string
  readonly ban_duration: number
  readonly log_lines: string
}
const names = ['root', 'admin', 'oracle', 'postgres', 'ubuntu', 'git', 'test', 'deploy', 'pi', 'ftpuser', 'jenkins']
const mailboxes = ['info', 'office', 'sales', 'anna', 'support', 'billing']
const paths = [
  'wp-login.php',
  '.env',
  'phpmyadmin/index.php',
  'admin/config.php',
  '.git/config',
  'xmlrpc.php',
  'vendor/phpunit/eval.php',
]
const stamp = (at: Date) => at.toISOString().slice(0, 19).replace('T', ' ')
const lines: Readonly<Record<string, (draw: Draw, ip: string, at: Date) => string>> = {
  sshd: ({ pick, below }, ip, at) => {
    const name = pick(names)
    const from = `from ${ip} port ${30_000 + below(30_000)}`
    const says = pick([
      `Failed password for ${name === 'root' ? '' : 'invalid user '}${name} ${from} ssh2`,
      `Invalid user ${name} ${from}`,
      `Connection closed by authenticating user ${name} ${ip} port ${30_000 + below(30_000)} [preauth]`,
    ])
    return `${stamp(at)} sshd[${2000 + below(9000)}]: ${says}`
  },
  'nginx-http-auth': ({ pick }, ip, at) =>
    `${stamp(at)} [error] user "${pick(names)}" was not found in "/etc/nginx/htpasswd", client: ${ip}, server: www.example, request: "GET /intern/ HTTP/1.1"`,
  'nginx-botsearch': ({ pick }, ip, at) => `${ip} - - [${stamp(at)}] "GET /${pick(paths)} HTTP/1.1" 404 162`,
  'nginx-limit-req': ({ pick }, ip, at) =>
    `${stamp(at)} [error] limiting requests, excess: 20.480 by zone "login", client: ${ip}, request: "POST /${pick(['login', 'api/token', 'search'])} HTTP/1.1"`,
  postfix: ({ pick }, ip, at) =>
    pick([
      `${stamp(at)} postfix/smtpd: NOQUEUE: reject: RCPT from unknown[${ip}]: 554 5.7.1 Relay access denied`,
      `${stamp(at)} postfix/smtpd: warning: unknown[${ip}]: SASL LOGIN authentication failed: authentication failure, sasl_username=${pick(mailboxes)}@shop.example`,
    ]),
  dovecot: ({ pick, below }, ip, at) =>
    `${stamp(at)} dovecot: imap-login: Disconnected (auth failed, ${2 + below(6)} attempts in 8 secs): user=<${pick(mailboxes)}>, method=PLAIN, rip=${ip}`,
  recidive: ({ pick }, ip, at) =>
    `${stamp(at)} fail2ban.actions: NOTICE [${pick(['sshd', 'postfix', 'nginx-botsearch'])}] Ban ${ip}`,
}
/** What is banned by a jail: who, how long, and the lines that led to it. */
export const anAttack = (draw: Draw, jails: readonly string[], at: Date, ip = anAttacker(draw)): Attack => {
  const jail = draw.pick(jails)
  const line = lines[jail]
  return {
    ip,
    jail,
    ban_duration: jail === 'recidive' ? 604_800 : draw.pick([600, 3600, 3600, 86_400]),
    log_lines: line
      ? Array.from({ length: jail === 'recidive' ? 3 : 3 + draw.below(5) }, (_, index) =>
          line(draw, ip, new Date(at.getTime() - (9 - index) * 4000)),
        ).join('\n')
      : '',
  }
}
