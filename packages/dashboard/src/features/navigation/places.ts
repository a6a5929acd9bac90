import {
  IconBan,
  IconBell,
  IconDoorEnter,
  IconFingerprint,
  IconLayoutDashboard,
  IconHistory,
  IconListDetails,
  IconReportAnalytics,
  IconSend,
  IconServer2,
  IconSettings,
  IconShieldCheck,
  IconTemplate,
  IconTerminal2,
  IconUsers,
} from '@tabler/icons-react'
import type { Me } from '../../api/queries.ts'
import { roleMay } from '../../api/roles.ts'

/*
 * Where the pages of the plan have their place: in the rail in this order, the first ones also in the bottom bar of
 * phones. The letter leads there after a `g`.
 */

const see = [
  { to: '/', icon: IconLayoutDashboard, text: 'overview', letter: 'o', first: true },
  { to: '/bans', icon: IconBan, text: 'bans', letter: 'b', first: true },
  { to: '/ip', icon: IconFingerprint, text: 'lookUp', letter: 'i', first: true },
  { to: '/servers', icon: IconServer2, text: 'servers', letter: 's', first: true },
] as const
const protection = [
  { to: '/lists', icon: IconListDetails, text: 'lists', letter: 'f', first: false, within: '/fleet-bans' },
  { to: '/whitelist', icon: IconShieldCheck, text: 'whitelist', letter: 'w', first: false },
  { to: '/templates', icon: IconTemplate, text: 'templates', letter: 't', first: false },
  { to: '/portknock', icon: IconDoorEnter, text: 'portknock', letter: 'p', first: false },
] as const
const operations = [
  { to: '/commands', icon: IconTerminal2, text: 'commands', letter: 'c', first: false },
  { to: '/alerts', icon: IconBell, text: 'alerts', letter: 'n', first: false },
  { to: '/reports', icon: IconReportAnalytics, text: 'reports', letter: 'r', first: false },
] as const
/** Only admins have these. */
const operationsOfAdmins = [
  ...operations,
  { to: '/siem', icon: IconSend, text: 'siem', letter: 'e', first: false },
  { to: '/audit', icon: IconHistory, text: 'audit', letter: 'a', first: false },
] as const
const admin = [
  { to: '/users', icon: IconUsers, text: 'users', letter: 'u', first: false },
  { to: '/settings', icon: IconSettings, text: 'settings', letter: 'x', first: false },
] as const

/** The tabs of “Lists”, each with a route of its own: what is banned on many servers, and why. A new tab is a line here. */
export const listTabs = [
  { to: '/lists', text: 'all' },
  { to: '/fleet-bans', text: 'fleetBans' },
  { to: '/lists/blocklists', text: 'blocklists' },
  { to: '/lists/rules', text: 'sharingRules' },
] as const
/** Only admins have these. */
export const listTabsOfAdmins = [...listTabs, { to: '/lists/feeds', text: 'feeds' }] as const

export type NavItem =
  | (typeof see)[number]
  | (typeof protection)[number]
  | (typeof operationsOfAdmins)[number]
  | (typeof admin)[number]
export interface NavGroup {
  readonly name: 'see' | 'protection' | 'operations' | 'admin'
  readonly items: readonly NavItem[]
}

/** Whether the page is one of this entry of the rail. */
export const isWithin = (item: NavItem, pathname: string): boolean =>
  [item.to, ...('within' in item ? [item.within] : [])].some(
    path => pathname === path || pathname.startsWith(`${path}/`),
  )

/** The groups of the rail for a role. */
export const groupsFor = (role: Me['role'] | undefined): readonly NavGroup[] =>
  role && roleMay(role, 'admin')
    ? [
        { name: 'see', items: see },
        { name: 'protection', items: protection },
        { name: 'operations', items: operationsOfAdmins },
        { name: 'admin', items: admin },
      ]
    : [
        { name: 'see', items: see },
        { name: 'protection', items: protection },
        { name: 'operations', items: operations },
      ]
