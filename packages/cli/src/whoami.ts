import { ApiError } from '@stockade/client'
import type { Client } from '@stockade/client'
import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { printFields, printJson } from './print.ts'
import { timeText } from './times.ts'

/** Null where the call is refused for want of permission. */
export const permitted = async <T>(call: Promise<T>): Promise<T | null> => {
  try {
    return await call
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
}

/** An order that nothing can come of: permission is judged before the request is read, so 400 means "may write". */
const mayWrite = async (client: Client): Promise<boolean> => {
  try {
    return (
      (await permitted(client.call('POST /commands/batch', { body: { server_ids: [], type: 'reload-all' } }))) !== null
    )
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return true
    throw error
  }
}

export const addWhoAmI = (program: Command): void => {
  program
    .command('whoami')
    .description('show who the key speaks for and what it may do')
    .action(async (_: object, command: Command) => {
      const { client, json, key, url } = contextOf(command)
      // An access token belongs to a user, whom the API describes; for an API key its permissions are tried out.
      const user = await permitted(client.call('GET /auth/me'))
      if (user) {
        if (json) return printJson(user)
        return printFields([
          ['at', url],
          ['version', user.version],
          ['user', user.username],
          ['e-mail', user.email],
          ['role', user.role],
          ['servers', user.server_access],
          ['2FA', user.mfa_enabled ? 'on' : 'off'],
          ['last sign-in', timeText(user.last_login)],
          ['your address', user.ip_address],
        ])
      }
      const { servers } = await client.call('GET /servers/summary')
      const admin = (await permitted(client.call('GET /users', { query: { limit: 1 } }))) !== null
      const permission = admin ? 'admin' : (await mayWrite(client)) ? 'write' : 'read'
      const { version } = await client.call('GET /health')
      // As the dashboard shows it, so that it can be found there.
      const prefix = key.slice(0, 8)
      if (json) return printJson({ key_prefix: prefix, permissions: permission, servers: servers.length, version })
      printFields([
        ['at', url],
        ['version', version],
        ['API key', `${prefix}…`],
        ['permission', permission],
        ['servers', servers.length],
      ])
    })
}
