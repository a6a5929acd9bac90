import type { ReactNode } from 'react'
import { useMay } from '../../api/session.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Empty } from '../../kit/list-states.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { IssueLicence } from './issue-licence.tsx'
import { licenceTexts } from './licence.texts.ts'
import styles from './settings.module.css'

interface Props {
  icon: ReactNode
  title: string
  about: readonly string[]
  /** The steps of what it does, as a picture: ports or programs, which are the same in every language. */
  picture: readonly string[]
}
/** In place of a page that needs a licence: what it would do, and the one step to it for those who may take it. */
export const ProNeeded = (props: Props) => {
  const t = textsOf(licenceTexts)
  const { may } = useMay('admin')
  return (
    <Empty icon={props.icon} title={props.title} text={props.about.join(' ')}>
      <div className={styles.pro}>
        <div className={styles.steps} aria-hidden="true" dir="ltr">
          {props.picture.map(step => (
            <span key={step}>{step}</span>
          ))}
        </div>
        {may ? (
          <IssueLicence>
            <ButtonLink to="/settings/licence" variant="default">
              {t.toLicence}
            </ButtonLink>
          </IssueLicence>
        ) : (
          <p>{t.askAdmin}</p>
        )}
      </div>
    </Empty>
  )
}
