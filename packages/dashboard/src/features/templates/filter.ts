/** What the URL says of the list of templates. */
export interface TemplatesSearch {
  readonly search?: string | undefined
  readonly category?: (typeof categories)[number] | undefined
  readonly type?: 'builtin' | 'custom' | undefined
}
export const categories = ['common', 'web', 'mail', 'custom'] as const

export const readTemplatesSearch = (raw: Record<string, unknown>): TemplatesSearch => {
  const search = typeof raw.search === 'string' ? raw.search.trim().slice(0, 100) : ''
  const category = categories.find(known => known === raw.category)
  const type = (['builtin', 'custom'] as const).find(known => known === raw.type)
  return { ...(search ? { search } : {}), ...(category ? { category } : {}), ...(type ? { type } : {}) }
}
