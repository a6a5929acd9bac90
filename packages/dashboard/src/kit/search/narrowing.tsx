import type { ReactNode } from 'react'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { searchTexts } from './search.texts.ts'
import type { Narrowing } from './terms.ts'
import { Value } from './value-menu.tsx'
import type { Act, ValueActs } from './value-menu.tsx'

/** A value of a field; `shown` is how it is shown and copied, where that is not the value of the search. */
export interface Term {
  readonly field: string
  readonly value: string
  readonly shown?: string
}

/** What narrows a list to values that have no room for menus of their own, as it stands in the menu of another one. */
export const actsOn = ({ only, without }: Narrowing, terms: readonly Term[]): readonly Act[] => {
  const t = textsOf(searchTexts)
  return terms.flatMap(({ field, value, shown = value }) => [
    { text: t.onlyValue(shown), act: () => only(field, value) },
    { text: t.allBut(shown), act: () => without(field, value) },
  ])
}

/**
 * A value that a list can be narrowed to, or to all but it. `link`: it leads somewhere itself, and keeps that; `others`
 * stand beside it on a card; `marked`: its button is seen always, not only when it has the focus.
 */
export const Narrows = (
  props: Term & {
    by: Narrowing
    open?: () => void
    link?: ReactNode
    others?: readonly Term[]
    more?: readonly Act[]
    marked?: boolean
    children?: ReactNode
  },
) => {
  const { by, field, value, shown = value, open, link, others = [], more = [], marked = false, children } = props
  const acts: ValueActs = {
    value: shown,
    filter: () => by.only(field, value),
    exclude: () => by.without(field, value),
    more: [...actsOn(by, others), ...more],
    ...(open ? { open } : {}),
  }
  return (
    <Value acts={acts} {...(link ? { link, quiet: !marked } : {})}>
      {children}
    </Value>
  )
}
