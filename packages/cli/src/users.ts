import { Option } from 'commander'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printFields, printJson, printPlace, printTable } from './print.ts'
import { withPage } from './rows.ts'
import type { PageOptions } from './rows.ts'
import { safe } from './safe.ts'
import { targetOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { timeText } from './times.ts'

type User = Reply<'GET /users'>['users'][number]
type Role = User['role']

const roles = ['Admin', 'Operator', 'Viewer'] as const
const roleOption = (text: string) => new Option('--role <role>', text).choices(roles)

const findUser = async (client: Client, typed: string): Promise<User> => {
  const { users } = await client.call('GET /users', { query: { search: typed, limit: 100 } })
  const user = users.find(({ username }) => username.toLowerCase() === typed.toLowerCase())
  if (!user) throw new Failure(`There is no user ${typed}. See: stockade users`)
  return user
}
const keysNote = (revoked: number): string => (revoked === 0 ? '' : ` ${revoked} API keys are revoked.`)

const runList = async (options: { role?: Role; search?: string } & PageOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /users', { query: options })
  if (json) return printJson(list)
  printTable(
    ['USERNAME', 'ROLE', 'E-MAIL', '2FA', 'LAST SIGN-IN', 'ID'],
    list.users.map(user => [
      user.username,
      user.role,
      user.email,
      user.mfa_enabled ? 'on' : user.mfa_required ? 'missing' : 'off',
      user.invite_expires_at === null ? timeText(user.last_login) : 'invited',
      String(user.id),
    ]),
  )
  printPlace('users', list, list.users.length)
}

const runShow = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findUser(client, typed)
  const params = { userId: id }
  const user = await client.call('GET /users/{userId}', { params })
  const { sessions } = await client.call('GET /users/{userId}/sessions', { params })
  if (json) return printJson({ ...user, sessions })
  const where = [
    ...user.tags.map(tag => `tag:${tag}`),
    ...(user.server_ids.length > 0 ? [`${user.server_ids.length} servers`] : []),
  ]
  printFields([
    ['username', user.username],
    ['id', String(user.id)],
    ['e-mail', user.email],
    ['role', user.role],
    ['2FA', user.mfa_enabled ? 'on' : 'off'],
    ['must have one', user.mfa_required ? 'yes' : 'no'],
    ['sees', user.server_access === 'all' ? 'all servers' : where.join(', ') || 'no server'],
    ['signs in with', user.oauth_provider ?? 'a password'],
    ['last sign-in', timeText(user.last_login)],
    ['invited until', timeText(user.invite_expires_at)],
  ])
  if (sessions.length === 0) return
  print('')
  printTable(
    ['SESSION FROM', 'SINCE', 'LAST SEEN', 'PROGRAM', 'ID'],
    sessions.map(each => [
      each.ip_address,
      timeText(each.created_at),
      timeText(each.last_activity),
      each.user_agent,
      String(each.id),
    ]),
  )
}

const runAdd = async (
  username: string,
  email: string,
  options: { role?: Role; mfaRequired?: boolean },
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command)
  const { role, mfaRequired } = options
  // A password would stand in the process list: the user chooses it by the link.
  const newUser = await client.call('POST /users', {
    body: { username, email, invite: true, ...(role ? { role } : {}), ...(mfaRequired ? { mfa_required: true } : {}) },
  })
  if (json) return printJson(newUser)
  print(
    `${safe(newUser.username)} (${newUser.role}) chooses a password here, once, until ${timeText(newUser.invite_expires_at) ?? ''}:`,
  )
  print(safe(newUser.setup_url ?? ''))
}
const runInvite = async (typed: string, options: { keepKeys?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findUser(client, typed)
  const invitation = await client.call('POST /users/{userId}/invite', {
    params: { userId: id },
    body: { keep_keys: options.keepKeys === true },
  })
  if (json) return printJson(invitation)
  print(
    `The link before is void.${keysNote(invitation.revoked_keys)} The new one works until ${timeText(invitation.invite_expires_at) ?? ''}:`,
  )
  print(safe(invitation.setup_url))
}

interface ChangeOptions {
  readonly role?: Role
  readonly email?: string
  readonly mfaRequired?: boolean
  readonly revokeKeys?: boolean
}
const runChange = async (typed: string, options: ChangeOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { role, email, mfaRequired, revokeKeys } = options
  const body = {
    ...(role === undefined ? {} : { role }),
    ...(email === undefined ? {} : { email }),
    ...(mfaRequired === undefined ? {} : { mfa_required: mfaRequired }),
    ...(revokeKeys ? { keep_keys: false } : {}),
  }
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --role Viewer.')
  const { id } = await findUser(client, typed)
  const user = await client.call('PATCH /users/{userId}', { params: { userId: id }, body })
  printEither(json, user, `${safe(user.username)} is ${user.role}, ${safe(user.email)}.${keysNote(user.revoked_keys)}`)
}
const runAccess = async (typed: string, options: TargetOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { all, server_ids, tags } = await targetOf(client, options)
  const { id } = await findUser(client, typed)
  const done = await client.call('PUT /users/{userId}/server-access', {
    params: { userId: id },
    body: all
      ? { access_type: 'all' }
      : { access_type: 'specific', ...(server_ids ? { server_ids } : {}), ...(tags ? { tags } : {}) },
  })
  printEither(json, done, `${safe(done.message)} ${done.server_count} servers can be seen now.`)
}

const runResetPassword = async (typed: string, options: { keepKeys?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findUser(client, typed)
  const done = await client.call('POST /users/{userId}/reset-password', {
    params: { userId: id },
    body: { keep_keys: options.keepKeys === true },
  })
  if (json) return printJson(done)
  print(`All sessions have ended.${keysNote(done.revoked_keys)} The temporary password, shown once:`)
  print(safe(done.temporary_password ?? ''))
}
const runResetMfa = async (typed: string, options: { keepKeys?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findUser(client, typed)
  const done = await client.call('POST /users/{userId}/reset-mfa', {
    params: { userId: id },
    body: { keep_keys: options.keepKeys === true },
  })
  printEither(json, done, `${safe(done.message)}${keysNote(done.revoked_keys)}`)
}
const runSignOut = async (typed: string, { session }: { session?: string }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await findUser(client, typed)
  if (session !== undefined) {
    const params = { userId: id, sessionId: session }
    const ended = await client.call('DELETE /users/{userId}/sessions/{sessionId}', { params })
    return json ? printJson(ended) : print(safe(ended.message))
  }
  const done = await client.call('DELETE /users/{userId}/sessions', { params: { userId: id } })
  printEither(json, done, `${done.terminated_count} sessions have ended.`)
}
const runRemove = async (typed: string, options: { yes?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, username } = await findUser(client, typed)
  if (!options.yes) throw new Misuse(`${username}, the sessions and the API keys will be gone: repeat it with --yes.`)
  const done = await client.call('DELETE /users/{userId}', { params: { userId: id } })
  printEither(json, done, safe(done.message))
}

export const addUserCommands = (program: Command): void => {
  const users = program
    .command('users')
    .description('people who sign in: list, invite, change and remove them')
    .addOption(roleOption('only these'))
    .option('--search <text>', 'part of the username or e-mail')
  withPage(users).action(runList)
  const userCommand = (name: string, description: string) =>
    users.command(name).description(description).argument('<username>', 'the user')
  const keepsKeys = (command: Command) => command.option('--keep-keys', 'the API keys of the user go on')
  userCommand('show', 'show a user with the sessions').action(runShow)
  users
    .command('add')
    .description('add a user, who chooses a password by a link')
    .argument('<username>', 'the name to sign in with')
    .argument('<email>', 'where mail goes')
    // Not --role: that is an option of the list above it.
    .addOption(new Option('--as <role>', 'what the user may do (default: Viewer)').choices(roles))
    .option('--mfa-required', '2FA must be set up first of all')
    .action((username: string, email: string, options: { as?: Role; mfaRequired?: boolean }, command: Command) =>
      runAdd(username, email, { ...options, ...(options.as ? { role: options.as } : {}) }, command),
    )
  keepsKeys(userCommand('invite', 'a new link for a user who has never signed in')).action(runInvite)
  userCommand('change', 'change a user')
    .addOption(new Option('--as <role>', 'what the user may do').choices(roles))
    .option('--email <address>', 'where mail goes')
    .option('--mfa-required', 'the user must have 2FA')
    .option('--no-mfa-required', 'the settings decide')
    .option('--revoke-keys', 'the API keys of the user end')
    .action((username: string, options: ChangeOptions & { as?: Role }, command: Command) =>
      runChange(username, { ...options, ...(options.as ? { role: options.as } : {}) }, command),
    )
  withTarget(userCommand('access', 'say which servers a user may see')).action(runAccess)
  keepsKeys(userCommand('reset-password', 'a temporary password, shown once')).action(runResetPassword)
  keepsKeys(userCommand('reset-mfa', 'turn 2FA off, for a lost device')).action(runResetMfa)
  userCommand('sign-out', 'end all sessions of a user, or one')
    .option('--session <id>', 'only this one')
    .action(runSignOut)
  userCommand('remove', 'delete a user').option('--yes', 'yes, without being asked').action(runRemove)
}
