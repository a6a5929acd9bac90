import { Link } from '@tanstack/react-router'
import type { TemplateRow } from '../fleet/queries.ts'
import type { ListColumn } from '../../kit/list-rows.ts'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { TemplateIcon } from './template-icon.tsx'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

export const columnsOf = (isNarrow: boolean): readonly ListColumn<TemplateRow>[] => {
  const t = textsOf(templatesTexts)
  return [
    {
      key: 'name',
      name: t.fields.name,
      width: 240,
      at: 'title',
      cell: row => (
        <span className={styles.named}>
          {!isNarrow && <TemplateIcon row={row} />}
          <Link to="/templates/$templateId" params={{ templateId: row.name }} data-open>
            <Stranger text={row.display_name} most={60} />
          </Link>
        </span>
      ),
    },
    { key: 'icon', name: t.category, narrowOnly: true, at: 'lead', cell: row => <TemplateIcon row={row} /> },
    { key: 'jail', name: t.fields.jail, width: 190, cell: ({ name }) => <Stranger text={name} most={60} /> },
    {
      key: 'description',
      name: t.fields.description,
      at: 'about',
      cell: ({ description }) => (
        <span className={styles.description}>
          <Stranger text={description} most={200} />
        </span>
      ),
    },
    {
      key: 'deployed',
      name: t.columns.deployed,
      width: 180,
      at: 'end',
      cell: ({ deployed_on: count, own_on: own }) =>
        count > 0 ? (
          <State is="deployed" word={t.onCount(count)} />
        ) : (
          <span className={styles.none}>{own > 0 ? t.ownOnCount(own) : t.notDeployed}</span>
        ),
    },
  ]
}
