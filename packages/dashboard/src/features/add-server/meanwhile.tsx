import type { ReactNode } from 'react'
import { IconBell, IconShieldPlus, IconUsers } from '@tabler/icons-react'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Panel } from '../../kit/page.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { roleMay } from '../../api/roles.ts'
import { useMe } from '../../api/session.ts'
import { addServerTexts } from './add-server.texts.ts'
import styles from './add-server.module.css'

/** What is worth doing while the command runs. */
export const Meanwhile = () => {
  const t = textsOf(addServerTexts)
  const me = useMe()
  if (!me || !roleMay(me.role, 'admin')) return null
  const small = { variant: 'default', size: 'xs' } as const
  return (
    <Panel title={t.meanwhile} aside={t.meanwhileAside}>
      <ul className={styles.things}>
        <Thing icon={<IconShieldPlus size={18} stroke={1.75} />} words={t.things.whitelist}>
          <ButtonLink to="/whitelist" {...small}>
            {t.things.whitelist[2]}
          </ButtonLink>
        </Thing>
        <Thing icon={<IconUsers size={18} stroke={1.75} />} words={t.things.admin}>
          <ButtonLink to="/users/new" {...small}>
            {t.things.admin[2]}
          </ButtonLink>
        </Thing>
        <Thing icon={<IconBell size={18} stroke={1.75} />} words={t.things.alerts}>
          <ButtonLink to="/settings/notifications" {...small}>
            {t.things.alerts[2]}
          </ButtonLink>
        </Thing>
      </ul>
    </Panel>
  )
}

const Thing = (props: { icon: ReactNode; words: readonly [string, string, string]; children: ReactNode }) => (
  <li>
    <span aria-hidden="true">{props.icon}</span>
    <div>
      <h3>{props.words[0]}</h3>
      <p>{props.words[1]}</p>
      {props.children}
    </div>
  </li>
)

/** What the pages will show once a server reports; on those where none does yet. */
export const Expected = () => {
  const t = textsOf(addServerTexts)
  return (
    <Panel title={t.expected}>
      <dl className={styles.expected}>
        {t.expectations.map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  )
}
