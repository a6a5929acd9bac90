import { withoutEmpty, words } from '../../lib/search-params.ts'

/** What the URL says of the list of templates. */
export interface TemplatesSearch {
  readonly search?: string | undefined
  readonly category?: (typeof categories)[number] | undefined
  readonly type?: 'builtin' | 'custom' | undefined
}
export const categories = ['common', 'web', 'mail', 'custom'] as const

export const readTemplatesSearch = (raw: Record<string, unknown>): TemplatesSearch =>
  withoutEmpty({
    search: words(raw.search, 100),
    category: categories.find(known => known === raw.category),
    type: (['builtin', 'custom'] as const).find(known => known === raw.type),
  })
