import { useEffect, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { CopyField } from '../../kit/copy.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { saveFile } from '../settings/save-file.ts'
import { identityTexts } from './identity.texts.ts'
import styles from './identity.module.css'

/** Shown once; closes only after the user confirms that they are saved. */
export const BackupCodes = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) => {
  const t = textsOf(identityTexts).backup
  const [saved, setSaved] = useState(false)
  const [asked, setAsked] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const submit = () => {
    setAsked(true)
    if (saved) onDone()
  }
  return (
    <PlainForm onSubmit={submit}>
      <h2 ref={heading} tabIndex={-1} className={styles.small}>
        {t.title}
      </h2>
      <p>{t.text}</p>
      <CopyField text={codes.join('\n')} label={t.label} />
      <div className={parts.row}>
        <Button variant="default" onClick={() => saveFile(`${codes.join('\n')}\n`, t.fileName, 'text/plain')}>
          {t.download}
        </Button>
      </div>
      <label className={styles.check}>
        <input type="checkbox" checked={saved} onChange={event => setSaved(event.currentTarget.checked)} />
        <span>{t.saved}</span>
      </label>
      {asked && !saved && (
        <p className={parts.error} role="alert">
          {t.savedMissing}
        </p>
      )}
      <div className={parts.row}>
        <Button type="submit">{t.finish}</Button>
      </div>
    </PlainForm>
  )
}
