import { createContext, useContext } from 'react'
import type { Ban } from '../../api/queries.ts'
import { useSelection } from '../../kit/selection.ts'
import type { Selection } from '../../kit/selection.ts'
import type { Attacker } from './attackers-list.ts'

/** So many at most in one run. */
export const mostAtOnce = 5000

/** Log lines are left out: thousands of them would not fit. */
export const light = (ban: Ban): Ban => ({ ...ban, log_lines: '' })
const idOf = ({ id }: Ban) => id

export type BanSelection = Selection<Ban, number>
export const useBanSelection = (list: string, rows: readonly Ban[]): BanSelection =>
  useSelection(list, rows, idOf, light)

export type AttackerSelection = Selection<Attacker, string>
const ipOf = ({ ip }: Attacker) => ip
export const useAttackerSelection = (list: string, rows: readonly Attacker[]): AttackerSelection =>
  useSelection(list, rows, ipOf)

const Selecting = createContext<BanSelection | null>(null)
export const SelectionProvider = Selecting.Provider
/** Null where rows can't be chosen. */
export const useSelecting = (): BanSelection | null => useContext(Selecting)
