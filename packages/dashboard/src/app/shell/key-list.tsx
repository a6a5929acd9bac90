import { Link } from '@tanstack/react-router'
import { activeKeys, keyList } from '../../kit/keys.ts'
import type { Key } from '../../kit/keys.ts'
import { keysTexts } from '../../kit/keys.texts.ts'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { preferences } from '../../lib/preferences.ts'
import styles from './key-list.module.css'

/** The keys that do something here. */
const KeyList = () => {
  const t = textsOf(keysTexts)
  const close = () => keyList.set(false)
  const all = activeKeys()
  const [ways, others] = [all.filter(({ key }) => key.length > 1), all.filter(({ key }) => key.length === 1)]
  return (
    <Dialog title={t.title} onClose={close}>
      <div className={parts.form}>
        {!preferences.read().keys && (
          <p className={parts.note}>
            {t.off}{' '}
            <Link to="/account/preferences" onClick={close}>
              {t.toPreferences}
            </Link>
          </p>
        )}
        <Group title={t.page} keys={others} also />
        <Group title={t.go} keys={ways} />
      </div>
    </Dialog>
  )
}
export default KeyList

const Group = ({ title, keys, also = false }: { title: string; keys: readonly Key[]; also?: boolean }) => {
  const t = textsOf(keysTexts)
  return (
    <section>
      <h3 className={parts.panelTitle}>{title}</h3>
      <dl className={styles.keys}>
        {also && (
          <div>
            <dt>
              <kbd>Ctrl K</kbd>
            </dt>
            <dd>{t.find}</dd>
          </div>
        )}
        {keys.map(({ key, text }) => (
          <div key={key}>
            <dt>
              {[...key].map((one, index) => (
                <span key={one + String(index)}>
                  {index > 0 && ` ${t.then} `}
                  <kbd>{one}</kbd>
                </span>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
