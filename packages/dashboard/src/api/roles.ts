import type { Me } from './queries.ts'

const ranks = { Viewer: 0, Operator: 1, Admin: 2 } as const
const needed = { write: 1, admin: 2 } as const

export const roleMay = (role: Me['role'], what: 'write' | 'admin'): boolean => ranks[role] >= needed[what]
