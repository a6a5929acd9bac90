import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { templatesQuery } from '../fleet/queries.ts'
import type { TemplateRow } from '../fleet/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { useTyped } from '../../kit/typed.ts'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { categories } from './filter.ts'
import type { TemplatesSearch } from './filter.ts'
import { TemplateIcon } from './template-icon.tsx'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

/** What can be put on many hosts, by what it protects. */
export const Templates = () => {
  const t = textsOf(templatesTexts)
  const search = useSearch({ from: '/inside/templates' })
  const navigate = useNavigate()
  const { may } = useMay('admin')
  const list = useQuery(templatesQuery(search))
  const rows = list.data?.templates
  const filtered = Boolean(search.search ?? search.category ?? search.type)
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
      <Trouble what={t.what} query={list} />
      {list.isPending && <Waiting />}
      {rows?.length === 0 && (
        <div className={parts.empty}>
          <p>{search.type === 'custom' || search.category === 'custom' ? t.noCustom : t.noMatch}</p>
          {filtered && (
            <Button variant="default" onClick={() => navigate({ to: '/templates', search: {} })}>
              {t.clear}
            </Button>
          )}
        </div>
      )}
      {categories.map(category => {
        const some = rows?.filter(row => row.category === category) ?? []
        return (
          some.length > 0 && (
            <section key={category} className={styles.group}>
              <h2 className={parts.panelTitle} style={{ margin: 0 }}>
                {t.categories[category]} · {some.length}
              </h2>
              <ul className={styles.cards}>
                {some.map(row => (
                  <Card key={row.id} row={row} />
                ))}
              </ul>
            </section>
          )
        )
      })}
    </Page>
  )
}

const Card = ({ row }: { row: TemplateRow }) => (
  <li className={parts.card}>
    <div className={parts.cardTop}>
      <span className={styles.named}>
        <TemplateIcon row={row} />
        <Link to="/templates/$templateId" params={{ templateId: row.name }} className={fleet.name}>
          <Stranger text={row.display_name} most={60} />
        </Link>
      </span>
      <span className={parts.mono}>{row.name}</span>
    </div>
    <p className={styles.description}>
      <Stranger text={row.description} most={200} />
    </p>
    <p className={styles.deployed}>
      {row.deployed_on > 0 ? (
        <State is="deployed" word={textsOf(templatesTexts).onCount(row.deployed_on)} />
      ) : (
        textsOf(templatesTexts).notDeployed
      )}
    </p>
  </li>
)

const Filters = () => {
  const t = textsOf(templatesTexts)
  const search = useSearch({ from: '/inside/templates' })
  const navigate = useNavigate()
  const filter = (change: Partial<TemplatesSearch>, replace = false) =>
    void navigate({ to: '/templates', search: { ...search, ...change }, replace })
  const { typed, setTyped } = useTyped(search.search ?? '', text => filter({ search: text || undefined }, true), {
    wait: 250,
    valid: () => true,
  })
  return (
    <div className={fleet.filters} role="search">
      <input
        className={parts.input}
        type="search"
        aria-label={t.search}
        placeholder={t.search}
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <select
        className={parts.input}
        aria-label={t.category}
        value={search.category ?? ''}
        onChange={event => filter({ category: categories.find(known => known === event.currentTarget.value) })}
      >
        <option value="">{t.allCategories}</option>
        {categories.map(category => (
          <option key={category} value={category}>
            {t.categories[category]}
          </option>
        ))}
      </select>
      <select
        className={parts.input}
        aria-label={t.type}
        value={search.type ?? ''}
        onChange={event =>
          filter({ type: (['builtin', 'custom'] as const).find(known => known === event.currentTarget.value) })
        }
      >
        <option value="">{t.allTypes}</option>
        <option value="builtin">{t.types.builtin}</option>
        <option value="custom">{t.types.custom}</option>
      </select>
    </div>
  )
}
