import { Button } from '@mantine/core'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import parts from './parts.module.css'

/** Where a page of a list is asked for that it does not have, or no longer. */
export const PastEnd = ({ onFirst }: { onFirst: () => void }) => {
  const t = textsOf(commonTexts)
  return (
    <div className={parts.empty}>
      <p>{t.pastEnd}</p>
      <Button variant="default" onClick={onFirst}>
        {t.firstPage}
      </Button>
    </div>
  )
}
