import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/session.ts'
import { Page, Panel } from '../../kit/page.tsx'
import { ActivityList } from '../shell/activity.tsx'
import { activityTexts } from '../shell/activity.texts.ts'
import { groupsFor } from '../../features/navigation/places.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import styles from './more.module.css'

/** The pages that the bottom bar of a phone has no room for. */
export const More = () => {
  const t = textsOf(shellTexts)
  const me = useMe()
  const groups = groupsFor(me?.role).filter(({ name }) => name !== 'see')
  return (
    <Page title={t.more}>
      {groups.map(({ name, items }) => (
        <Panel key={name} title={t.groups[name]}>
          <ul>
            {items.map(({ to, icon: Icon, text }) => (
              <li key={to}>
                <Link to={to} className={styles.place}>
                  <Icon size={18} stroke={1.75} />
                  {t[text]}
                </Link>
              </li>
            ))}
          </ul>
        </Panel>
      ))}
      <Panel title={textsOf(activityTexts).title}>
        <ActivityList />
      </Panel>
    </Page>
  )
}
