import type { Me } from '../../../api/queries.ts'
import { roleMay } from '../../../api/roles.ts'
import { findAddress } from '../../../features/ip/read-address.ts'
import { findSettings } from '../../../features/settings/index-of.ts'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { readRange } from '../../../lib/address.ts'
import { groupsFor, listTabs } from '../../../features/navigation/places.ts'
import { shellTexts } from '../../../features/navigation/shell.texts.ts'
import { findTexts } from './find.texts.ts'

/** What choosing a line does. A `path` begins at the root of the dashboard. */
export type Act =
  | { readonly kind: 'go'; readonly path: string }
  | { readonly kind: 'leave'; readonly path: string }
  | { readonly kind: 'dialog'; readonly dialog: 'ban' | 'unban' | 'whitelist'; readonly address: string }
  | { readonly kind: 'scheme'; readonly scheme: 'auto' | 'light' | 'dark' }
  | { readonly kind: 'copyRequest' }
  | { readonly kind: 'signOut' }
export type Group = keyof (typeof findTexts)['en']['groups']
export interface Suggestion {
  readonly group: Group
  readonly text: string
  /** Said in small beside it. */
  readonly aside?: string
  readonly act: Act
}
export interface Known {
  readonly role: Me['role'] | undefined
  readonly servers: readonly { readonly id: string; readonly hostname: string; readonly status: string }[]
  readonly templates: readonly { readonly id: number; readonly name: string; readonly display_name: string }[]
  readonly users: readonly { readonly id: number; readonly username: string; readonly email: string }[]
  /** Addresses and servers that were opened lately, newest first. */
  readonly recent: readonly string[]
}

/** How many of a group are shown: more would hide the next one. */
const most = 6

const go = (path: string): Act => ({ kind: 'go', path })
const on = (path: string, search: Record<string, string>): Act =>
  go(`${path}?${new URLSearchParams(Object.entries(search)).toString()}`)

/** What can be done about an address or a range that was typed or pasted. */
const aboutAddress = (typed: string, role: Known['role']): Suggestion[] => {
  const t = textsOf(findTexts)
  const group = 'address'
  const acts = role !== undefined && roleMay(role, 'write')
  const typedAddress = findAddress(typed)
  if (typedAddress) {
    const address = typedAddress.ip
    const dialog = (dialog: 'ban' | 'unban' | 'whitelist'): Act => ({ kind: 'dialog', dialog, address })
    return [
      {
        group,
        text: t.about(address),
        act: typedAddress.part ? on(`/ip/${address}`, { taken: '1' }) : go(`/ip/${address}`),
      },
      ...(acts
        ? ([
            { group, text: t.unban(address), aside: 'Alt U', act: dialog('unban') },
            { group, text: t.ban(address), aside: 'Alt B', act: dialog('ban') },
            { group, text: t.whitelist(address), aside: 'Alt W', act: dialog('whitelist') },
          ] as const)
        : []),
    ]
  }
  const range = typed.trim()
  if (!range.includes('/') || !readRange(range)) return []
  return [
    { group, text: t.bansIn(range), act: on('/bans', { ip: range }) },
    ...(acts
      ? ([{ group, text: t.whitelist(range), act: { kind: 'dialog', dialog: 'whitelist', address: range } }] as const)
      : []),
  ]
}

const pagesFor = (role: Known['role']): Suggestion[] => {
  const t = textsOf(shellTexts)
  const account = (['profile', 'security', 'keys', 'preferences'] as const).map(
    name => ({ group: 'pages', text: t[name], act: go(`/account/${name}`) }) as const,
  )
  return [
    ...groupsFor(role).flatMap(({ items }) =>
      items.map(({ to, text }) => ({ group: 'pages', text: t[text], act: go(to) }) as const),
    ),
    ...listTabs.map(({ to, text }) => ({ group: 'pages', text: t[text], act: go(to) }) as const),
    ...account,
    { group: 'pages', text: textsOf(findTexts).apiDocs, act: { kind: 'leave', path: '/api/docs' } },
  ]
}
const actionsFor = (role: Known['role']): Suggestion[] => {
  const t = textsOf(findTexts)
  const group = 'actions'
  return [
    ...(role !== undefined && roleMay(role, 'admin')
      ? ([
          { group, text: t.addServer, act: go('/servers/new') },
          { group, text: t.addUser, act: go('/users/new') },
          { group, text: t.replay, act: go('/siem/replay') },
        ] as const)
      : []),
    { group, text: t.dark, act: { kind: 'scheme', scheme: 'dark' } },
    { group, text: t.light, act: { kind: 'scheme', scheme: 'light' } },
    { group, text: t.system, act: { kind: 'scheme', scheme: 'auto' } },
    { group, text: t.copyRequest, act: { kind: 'copyRequest' } },
    { group, text: t.signOut, act: { kind: 'signOut' } },
  ]
}

/** All lines for what was typed, best group first; with nothing typed, what was opened lately and the pages. */
export const suggest = (typed: string, known: Known): readonly Suggestion[] => {
  const { role } = known
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) {
    const recent = known.recent.flatMap(text => {
      const server = known.servers.find(({ hostname }) => hostname === text)
      if (server) return [{ group: 'recent', text, act: go(`/servers/${server.id}/overview`) } as const]
      return findAddress(text) ? [{ group: 'recent', text, act: go(`/ip/${text}`) } as const] : []
    })
    return [...recent.slice(0, most), ...pagesFor(role)]
  }
  const fits = (text: string) => words.every(word => text.toLowerCase().includes(word))
  const begins = (text: string) => (text.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1)
  const pick = (lines: readonly Suggestion[]) =>
    lines
      .filter(({ text, aside = '' }) => fits(`${text} ${aside}`))
      .toSorted((a, b) => begins(a.text) - begins(b.text))
      .slice(0, most)
  const admin = role !== undefined && roleMay(role, 'admin')
  return [
    ...aboutAddress(typed, role),
    ...pick(
      known.servers.map(({ id, hostname, status }) => ({
        group: 'servers',
        text: hostname,
        aside: status,
        act: go(`/servers/${id}/overview`),
      })),
    ),
    ...pick(pagesFor(role)),
    ...pick(
      known.templates.map(({ name, display_name }) => ({
        group: 'templates',
        text: display_name,
        aside: name,
        act: go(`/templates/${name}`),
      })),
    ),
    ...pick(
      known.users.map(({ id, username, email }) => ({
        group: 'users',
        text: username,
        aside: email,
        act: go(`/users/${id}`),
      })),
    ),
    ...(admin
      ? findSettings(typed)
          .slice(0, most)
          .map(({ section, name }) => ({ group: 'settings', text: name, act: go(`/settings/${section}`) }) as const)
      : []),
    ...pick(actionsFor(role)),
  ]
}
