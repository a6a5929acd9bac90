import { DatabaseSync } from 'node:sqlite'
import { until, type Host } from './host.ts'

/** Bans without firewall actions, so that fail2ban restores them at once. */
export const crowdJail = `
[crowd]
enabled = true
filter = sshd
action =
bantime = 86400
logpath = /dev/null
`

const addressAt = (index: number): string =>
  index % 10 === 0
    ? `2001:db8::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`
    : `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`

/** How many bans of the jail fail2ban holds. */
export async function crowdOf(host: Host): Promise<number> {
  const status = await host.client('status', 'crowd').catch(() => '')
  return Number(/Currently banned:\s+(\d+)/.exec(status)?.[1] ?? 0)
}

/** Writes the bans into the tables that fail2ban restores them from. */
const fillTable = (file: string, count: number): void => {
  const database = new DatabaseSync(file)
  const now = Math.floor(Date.now() / 1000) - 600
  const data = JSON.stringify({ matches: ['a line of the log that counted, as long as such lines are'], failures: 3 })
  const bans = database.prepare(
    'INSERT INTO bans (jail, ip, timeofban, bantime, bancount, data) VALUES (?, ?, ?, ?, 1, ?)',
  )
  const current = database.prepare(
    'INSERT INTO bips (ip, jail, timeofban, bantime, bancount, data) VALUES (?, ?, ?, ?, 1, ?)',
  )
  database.exec('BEGIN')
  for (let index = 1; index <= count; index += 1) {
    bans.run('crowd', addressAt(index), now - (index % 300), 86_400, data)
    current.run(addressAt(index), 'crowd', now - (index % 300), 86_400, data)
  }
  database.exec('COMMIT')
  database.close()
}

/** Adds `count` bans to fail2ban on a host with `crowdJail`. */
export async function fillCrowd(host: Host, count: number): Promise<void> {
  await host.stopEngine()
  fillTable(`${host.directory}/lib/f2b.sqlite3`, count)
  await host.startEngine()
  await until(async () => (await crowdOf(host)) === count, 'fail2ban to restore its bans')
}
