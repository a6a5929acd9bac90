import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { templatesQuery } from '../fleet/queries.ts'
import type { TemplateRow } from '../fleet/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { FindField } from '../../kit/find-field.tsx'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import { Select } from '../../kit/select.tsx'
import { useTyped } from '../../kit/typed.ts'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { columnsOf } from './columns.tsx'
import { categories } from './filter.ts'
import type { TemplatesSearch } from './filter.ts'
import { templatesTexts } from './templates.texts.ts'

const keyOf = ({ name }: TemplateRow) => name

/** What can be put on many servers, by what it protects. */
export const Templates = () => {
  const t = textsOf(templatesTexts)
  const { may } = useMay('admin')
  return (
    <Page
      title={t.title}
      tools={<Filters />}
      actions={
        may && (
          <ButtonLink to="/templates/new" search={{}} leftSection={<IconPlus size={16} />}>
            {t.new}
          </ButtonLink>
        )
      }
    >
      <TemplateList />
    </Page>
  )
}

const TemplateList = () => {
  const t = textsOf(templatesTexts)
  const search = useSearch({ from: '/inside/templates' })
  const navigate = useNavigate()
  const query = useQuery(templatesQuery(search))
  const all = query.data?.templates
  const rows = all && categories.flatMap(category => all.filter(row => row.category === category))
  const filter = (to: TemplatesSearch) => void navigate({ to: '/templates', search: to })
  const { search: words, category, type } = search
  return (
    <List
      what={t.what}
      caption={t.title}
      columns={columnsOf(useNarrow())}
      query={query}
      rows={rows}
      groups={{
        of: row => row.category,
        nameOf: (group, count) => `${t.categories[categories.find(known => known === group) ?? 'custom']} · ${count}`,
      }}
      keyOf={keyOf}
      page={1}
      limit={Math.max(1, rows?.length ?? 0)}
      total={rows?.length ?? 0}
      onPage={() => undefined}
      empty={null}
      noMatch={type === 'custom' || category === 'custom' ? t.noCustom : t.noMatch}
      filters={[
        ...(words ? [{ text: words, onRemove: () => filter({ ...search, search: undefined }) }] : []),
        ...(category
          ? [{ text: t.categories[category], onRemove: () => filter({ ...search, category: undefined }) }]
          : []),
        ...(type ? [{ text: t.types[type], onRemove: () => filter({ ...search, type: undefined }) }] : []),
      ]}
      onClear={() => filter({})}
    />
  )
}

const Filters = () => {
  const t = textsOf(templatesTexts)
  const search = useSearch({ from: '/inside/templates' })
  const navigate = useNavigate()
  const filter = (change: Partial<TemplatesSearch>, replace = false) =>
    void navigate({ to: '/templates', search: { ...search, ...change }, replace })
  const { typed, setTyped } = useTyped(search.search ?? '', text => filter({ search: text || undefined }, true), {
    wait: 250,
    valid: () => true,
    merge: unsent => unsent,
  })
  return (
    <div className={fleet.filters} role="search">
      <FindField label={t.search} value={typed} onValue={setTyped} />
      <Select
        label={t.category}
        value={search.category ?? ''}
        options={[
          { value: '', text: t.allCategories },
          ...categories.map(category => ({ value: category, text: t.categories[category] })),
        ]}
        onValue={category => filter({ category: category || undefined })}
      />
      <Select
        label={t.type}
        value={search.type ?? ''}
        options={[
          { value: '', text: t.allTypes },
          { value: 'builtin', text: t.types.builtin },
          { value: 'custom', text: t.types.custom },
        ]}
        onValue={type => filter({ type: type || undefined })}
      />
    </div>
  )
}
