import { useState } from 'react'
import { Button } from '@mantine/core'
import type { Coverage } from '../../api/coverage.ts'
import { useMay } from '../../api/session.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { whitelistTexts } from './whitelist.texts.ts'

/** Says how much the whitelist would cover. An administrator goes on by typing the figure. */
const CoverageDialog = (props: { coverage: Coverage; answer: (confirmed: boolean) => void }) => {
  const { percent, family, limit_percent } = props.coverage
  const t = textsOf(whitelistTexts).coverage
  const { may } = useMay('admin')
  const [typed, setTyped] = useState('')
  const [tried, setTried] = useState(false)
  const sure = Number(typed.replace('%', '').replace(',', '.').trim() || NaN) === percent
  const submit = () => {
    setTried(true)
    if (sure) props.answer(true)
  }
  return (
    <FormDialog title={t.title} onClose={() => props.answer(false)} onSubmit={submit}>
      <p className={parts.warn}>{t.share(number(percent), t.families[family], number(limit_percent))}</p>
      <p>{t.means}</p>
      {may ? (
        <TextField
          label={t.type(number(percent))}
          error={tried && !sure ? t.wrong : undefined}
          value={typed}
          onValue={setTyped}
          kind="decimal"
          dir="ltr"
          focus
        />
      ) : (
        <p>{t.adminsOnly}</p>
      )}
      <div className={parts.row}>
        {may && (
          <Button type="submit" variant="danger">
            {t.submit}
          </Button>
        )}
        <CancelButton onClick={() => props.answer(false)} />
      </div>
    </FormDialog>
  )
}
export default CoverageDialog
