import type { Page } from 'playwright-core'
import { Secret, TOTP } from 'otpauth'
import { createClient } from '@stockade/client'
import { startServer } from '@stockade/server/testing'
import { account } from './demo.ts'
import type { Demo } from './demo.ts'

/* Every page of the dashboard, with what the demo has to show on it. `tests/house/pages.test.ts` compares the list with the routes. */

/** What the paths of pages are made of. */
export interface Subjects {
  readonly server: string
  readonly ban: string
  readonly template: string
  readonly ownTemplate: string
  readonly command: string
  readonly batch: string
  readonly user: string
  readonly invitation: string
  /** The URL of a server without users, with its set-up code. */
  readonly setUp: string
}
export interface PageOfDashboard {
  readonly name: string
  /** The route that shows it, as the router writes it. */
  readonly route: string
  readonly path: string | ((subjects: Subjects) => string)
  /** Nobody is signed in. */
  readonly isOutside?: true
  /** What is done before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>
}

/** A user with a second factor, for the page that asks for it. */
const withFactor = 'dora'

const signInTo = async (page: Page, username: string): Promise<void> => {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

export const pages: readonly PageOfDashboard[] = [
  { name: 'sign-in', route: '/login', path: 'login', isOutside: true },
  {
    name: 'second-factor',
    route: '/login/mfa',
    path: 'login',
    isOutside: true,
    act: async page => {
      await signInTo(page, withFactor)
      await page.getByLabel('Code from your authenticator app').waitFor()
    },
  },
  { name: 'enrol', route: '/login/enrol', path: 'login/enrol' },
  { name: 'set-up', route: '/setup', path: ({ setUp }) => setUp, isOutside: true },
  { name: 'invitation', route: '/invite', path: ({ invitation }) => invitation, isOutside: true },
  { name: 'overview', route: '/', path: '' },
  { name: 'wall', route: '/wall', path: 'wall' },
  {
    name: 'find',
    route: '/',
    path: '',
    act: async page => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('203.0.113.66')
      await page
        .getByRole('dialog')
        .getByText(/^Banned/)
        .first()
        .waitFor()
    },
  },
  { name: 'bans', route: '/bans', path: 'bans' },
  { name: 'single-bans', route: '/bans', path: 'bans?by=bans' },
  { name: 'ban', route: '$banId', path: ({ ban }) => `bans/${ban}` },
  { name: 'addresses', route: '/ip', path: 'ip' },
  { name: 'address', route: '/ip/$addr', path: 'ip/203.0.113.66' },
  { name: 'servers', route: '/servers', path: 'servers' },
  { name: 'add-server', route: '/servers/new', path: 'servers/new' },
  { name: 'enrolment-tokens', route: '/servers/tokens', path: 'servers/tokens' },
  { name: 'server', route: 'overview', path: ({ server }) => `servers/${server}/overview` },
  { name: 'server-jails', route: 'jails', path: ({ server }) => `servers/${server}/jails` },
  { name: 'server-bans', route: 'bans', path: ({ server }) => `servers/${server}/bans` },
  { name: 'server-commands', route: 'commands', path: ({ server }) => `servers/${server}/commands` },
  { name: 'server-settings', route: 'settings', path: ({ server }) => `servers/${server}/settings` },
  { name: 'lists', route: '/lists', path: 'lists' },
  { name: 'fleet-bans', route: '/fleet-bans', path: 'fleet-bans' },
  { name: 'blocklists', route: '/lists/blocklists', path: 'lists/blocklists' },
  { name: 'sharing-rules', route: '/lists/rules', path: 'lists/rules' },
  {
    name: 'sharing-rule',
    route: '/lists/rules',
    path: 'lists/rules',
    act: async page => {
      await page.getByRole('button', { name: 'Change Web probes' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'feeds', route: '/lists/feeds', path: 'lists/feeds' },
  { name: 'whitelist', route: '/whitelist', path: 'whitelist' },
  { name: 'templates', route: '/templates', path: 'templates' },
  { name: 'template', route: '/templates/$templateId', path: ({ template }) => `templates/${template}` },
  { name: 'new-template', route: '/templates/new', path: 'templates/new?from=wordpress' },
  { name: 'edit-template', route: '/templates/$templateId/edit', path: it => `templates/${it.ownTemplate}/edit` },
  { name: 'deploy-template', route: '/templates/$templateId/deploy', path: it => `templates/${it.template}/deploy` },
  ...['sequences', 'open', 'history', 'blocked', 'stats'].map(tab => ({
    name: `knock-${tab}`,
    route: `/portknock/${tab}`,
    path: `portknock/${tab}`,
  })),
  { name: 'commands', route: '/commands', path: 'commands' },
  { name: 'command', route: '/commands/$commandId', path: ({ command }) => `commands/${command}` },
  { name: 'batch', route: '/batches/$batchId', path: ({ batch }) => `batches/${batch}` },
  { name: 'alerts', route: '/alerts', path: 'alerts' },
  { name: 'reports', route: '/reports', path: 'reports' },
  ...['destination', 'delivery', 'queue', 'replay'].map(tab => ({
    name: `siem-${tab}`,
    route: `/siem/${tab}`,
    path: `siem/${tab}`,
  })),
  { name: 'audit', route: '/audit', path: 'audit' },
  { name: 'users', route: '/users', path: 'users' },
  { name: 'new-user', route: '/users/new', path: 'users/new' },
  { name: 'user', route: '/users/$userId', path: ({ user }) => `users/${user}` },
  ...['profile', 'security', 'keys', 'preferences'].map(tab => ({
    name: `account-${tab}`,
    route: `/account/${tab}`,
    path: `account/${tab}`,
  })),
  ...[...['general', 'security', 'oauth', 'notifications'], ...['reputation', 'agents', 'backup', 'licence']].map(
    section => ({ name: `settings-${section}`, route: `/settings/${section}`, path: `settings/${section}` }),
  ),
  { name: 'more', route: '/more', path: 'more' },
  { name: 'not-found', route: '$', path: 'nowhere' },
]

/** Routes that lead on to another one before anything is seen. */
export const forwarding: readonly string[] = ['/settings/channels', '/', '/portknock', '/siem', '/account', '/settings']

const giveFactor = async ({ url, admin }: Demo): Promise<void> => {
  await admin.call('POST /users', {
    body: { username: withFactor, email: 'dora@stockade.example', role: 'Viewer', password: account.password },
  })
  const reply = await createClient({ baseUrl: url }).call('POST /auth/login', {
    body: { username: withFactor, password: account.password },
  })
  if (!('access_token' in reply)) throw new Error('The new user has a second factor already.')
  const client = createClient({ baseUrl: url, token: reply.access_token })
  const { secret } = await client.call('POST /auth/mfa/enable')
  const code = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 }).generate()
  await client.call('POST /auth/mfa/confirm', { body: { code } })
}

/** Makes what the demo does not hold, and says where everything is. */
export const furnishPages = async (demo: Demo): Promise<{ subjects: Subjects; close: () => Promise<void> }> => {
  const { admin, hosts } = demo
  await giveFactor(demo)
  const { templates } = await admin.call('GET /templates')
  const { commands } = await admin.call('GET /commands', { query: { type: 'ban-ip', limit: 1 } })
  const { bans } = await admin.call('GET /bans', { query: { limit: 1 } })
  const { users } = await admin.call('GET /users')
  const copied = await admin.call('GET /templates/{templateId}', {
    params: { templateId: String(templates.find(({ name }) => name === 'wordpress')?.id ?? '') },
  })
  const own = await admin.call('POST /templates', {
    body: {
      name: 'shop-login',
      display_name: 'Shop sign-in',
      category: copied.category,
      jail_config: copied.jail_config.replaceAll('wordpress', 'shop-login'),
      filter_config: copied.filter_config,
    },
  })
  const { setup_url } = await admin.call('POST /users', {
    body: { username: 'emil', email: 'emil@stockade.example', role: 'Viewer', invite: true },
  })
  const fresh = await startServer()
  const subjects = {
    server: hosts[0]?.id ?? '',
    ban: String(bans[0]?.id ?? ''),
    template: 'sshd',
    ownTemplate: String(own.id),
    command: String(commands[0]?.id ?? ''),
    batch: commands[0]?.batch_id ?? '',
    user: String(users.find(({ username }) => username === 'ben')?.id ?? ''),
    invitation: setup_url ?? '',
    setUp: `${fresh.url}/setup?code=${fresh.setupCode ?? ''}`,
  }
  return { subjects, close: fresh.close }
}
