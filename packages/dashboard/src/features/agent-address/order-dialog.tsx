import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKept } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { agentAddressTexts } from './agent-address.texts.ts'
import type { Address } from './queries.ts'

const isUrl = (text: string): boolean => /^https?:\/\/[^/]/i.test(text)

/** Asks for the URL that all servers should use. */
const OrderDialog = (props: { is: Address; order: (url: string) => Promise<void>; onClose: () => void }) => {
  const t = textsOf(agentAddressTexts)
  const { typed, set } = useKept('agent-address', { url: props.is.base_url })
  const [isTried, setTried] = useState(false)
  const save = useMutation({ mutationFn: props.order, onSuccess: props.onClose })
  const url = typed.url.trim()
  const problem = isTried && !isUrl(url) ? t.urlMissing : fieldProblem(save.error, 'url')
  return (
    <FormDialog
      title={t.dialogTitle}
      onClose={props.onClose}
      onSubmit={() => {
        setTried(true)
        if (isUrl(url) && !save.isPending) save.mutate(url)
      }}
    >
      <TextField
        label={t.url}
        help={t.urlHelp}
        error={problem}
        value={typed.url}
        onValue={next => {
          set({ url: next })
          save.reset()
        }}
        most={2048}
        kind="url"
        dir="ltr"
        focus
      />
      <p>{t.trial}</p>
      {problem === undefined && <Refusal error={save.error} />}
      <DialogButtons verb={t.submit} isRunning={save.isPending} onCancel={props.onClose} />
    </FormDialog>
  )
}
export default OrderDialog
