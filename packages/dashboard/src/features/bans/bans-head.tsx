import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { standingFleetBansQuery } from '../fleet/fleet-bans.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { bansTexts } from './bans.texts.ts'

/** Bans of the whole fleet are no rows of this list: says how many stand, and leads to them. */
const FleetBansNote = () => {
  const total = useQuery(standingFleetBansQuery).data?.total ?? 0
  return total === 0 ? null : (
    <Link to="/fleet-bans" search={{}}>
      {textsOf(bansTexts).fleetBans(number(total), total)}
    </Link>
  )
}

/** What stands above a list of bans: how many there are, more about these, and what is no row of it. */
export const BansHead = ({ count, children }: { count: string; children?: ReactNode }) => (
  <>
    <b>{count}</b>
    {children}
    <FleetBansNote />
  </>
)
