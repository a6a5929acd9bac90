import {
  IconBan,
  IconDoorEnter,
  IconLayoutDashboard,
  IconHistory,
  IconListCheck,
  IconSearch,
  IconSend,
  IconServer2,
  IconSettings,
  IconShieldCheck,
  IconTemplate,
  IconUsers,
} from '@tabler/icons-react'
import type { Me } from '../api/queries.ts'
import { roleMay } from '../api/roles.ts'

/* Where the pages of the plan have their place: in the rail in this order, the first ones also in the bottom bar of phones. */

const see = [
  { to: '/', icon: IconLayoutDashboard, text: 'overview', first: true },
  { to: '/bans', icon: IconBan, text: 'bans', first: true },
  { to: '/ip', icon: IconSearch, text: 'lookUp', first: true },
  { to: '/servers', icon: IconServer2, text: 'servers', first: true },
] as const
const control = [
  { to: '/whitelist', icon: IconShieldCheck, text: 'whitelist', first: false },
  { to: '/commands', icon: IconListCheck, text: 'commands', first: false },
  { to: '/templates', icon: IconTemplate, text: 'templates', first: false },
  { to: '/portknock', icon: IconDoorEnter, text: 'portknock', first: false },
] as const
/** Among what controls the fleet, and only admins have it. */
const controlOfAdmins = [...control, { to: '/siem', icon: IconSend, text: 'siem', first: false }] as const
const admin = [
  { to: '/users', icon: IconUsers, text: 'users', first: false },
  { to: '/settings', icon: IconSettings, text: 'settings', first: false },
  { to: '/audit', icon: IconHistory, text: 'audit', first: false },
] as const

export type NavItem = (typeof see)[number] | (typeof controlOfAdmins)[number] | (typeof admin)[number]
export interface NavGroup {
  readonly name: 'see' | 'control' | 'admin'
  readonly items: readonly NavItem[]
}

/** What someone of that role finds in the rail. */
export const groupsFor = (role: Me['role'] | undefined): readonly NavGroup[] =>
  role && roleMay(role, 'admin')
    ? [
        { name: 'see', items: see },
        { name: 'control', items: controlOfAdmins },
        { name: 'admin', items: admin },
      ]
    : [
        { name: 'see', items: see },
        { name: 'control', items: control },
      ]
