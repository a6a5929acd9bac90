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
import type { Me } from '../../api/queries.ts'
import { roleMay } from '../../api/roles.ts'

/*
 * Where the pages of the plan have their place: in the rail in this order, the first ones also in the bottom bar of
 * phones. The letter leads there after a `g`.
 */

const see = [
  { to: '/', icon: IconLayoutDashboard, text: 'overview', letter: 'o', first: true },
  { to: '/bans', icon: IconBan, text: 'bans', letter: 'b', first: true },
  { to: '/ip', icon: IconSearch, text: 'lookUp', letter: 'i', first: true },
  { to: '/servers', icon: IconServer2, text: 'servers', letter: 's', first: true },
] as const
const control = [
  { to: '/whitelist', icon: IconShieldCheck, text: 'whitelist', letter: 'w', first: false },
  { to: '/commands', icon: IconListCheck, text: 'commands', letter: 'c', first: false },
  { to: '/templates', icon: IconTemplate, text: 'templates', letter: 't', first: false },
  { to: '/portknock', icon: IconDoorEnter, text: 'portknock', letter: 'p', first: false },
] as const
/** Among what controls the fleet, and only admins have it. */
const controlOfAdmins = [...control, { to: '/siem', icon: IconSend, text: 'siem', letter: 'e', first: false }] as const
const admin = [
  { to: '/users', icon: IconUsers, text: 'users', letter: 'u', first: false },
  { to: '/settings', icon: IconSettings, text: 'settings', letter: 'x', first: false },
  { to: '/audit', icon: IconHistory, text: 'audit', letter: 'a', first: false },
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
