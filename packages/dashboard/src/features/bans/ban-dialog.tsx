import { Button } from '@mantine/core'
import { BatchReceipt } from '../fleet/receipts.tsx'
import { CommandProgress } from '../fleet/command-progress.tsx'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import { BanFields } from './ban-fields.tsx'
import { canForce, useBanForm, withoutHint } from './ban-form.ts'
import type { BanForm, GivenBan } from './ban-form.ts'

type Given = GivenBan & { readonly onClose: () => void }

const BanDialog = (props: Given) => (
  <Dialog title={textsOf(banDialogTexts).title} onClose={props.onClose}>
    <Form {...props} />
  </Dialog>
)
export default BanDialog

const Form = (props: Given) => {
  const form = useBanForm(props)
  if (form.ban.data) return <Queued form={form} onClose={props.onClose} />
  return (
    <PlainForm onSubmit={() => form.submit()}>
      <BanFields form={form} />
      <Refusal error={withoutHint(form.ban.error)} />
      <div className={parts.row}>
        <Submit form={form} />
        <CancelButton onClick={props.onClose} />
      </div>
    </PlainForm>
  )
}

/** The button says how many servers it is about, and what it would do in spite of a refusal. */
const Submit = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const { ban, isMany, ids } = form
  return canForce(ban.error) ? (
    <Button variant="danger" onClick={() => ban.mutate(true)} loading={ban.isPending}>
      {isMany ? t.forceOn(ids.length) : t.force}
    </Button>
  ) : (
    <Button type="submit" loading={ban.isPending}>
      {isMany && ids.length > 0 ? t.submitOn(ids.length) : t.submit}
    </Button>
  )
}

/** From the click to the last server. */
const Queued = ({ form, onClose }: { form: BanForm; onClose: () => void }) => {
  const t = textsOf(banDialogTexts)
  const { ban, server, typed } = form
  if (!ban.data) return null
  return (
    <div className={parts.form}>
      <p>
        <bdi>{t.queued(typed.ip.trim(), server ? nameOf(server.hostname) : t.onMany(ban.data.count))}</bdi>
      </p>
      {'commandId' in ban.data ? (
        <CommandProgress commandId={ban.data.commandId} done={t.banned} />
      ) : (
        <BatchReceipt batchId={ban.data.batchId} list />
      )}
      <div className={parts.row}>
        <Button onClick={onClose}>{t.done}</Button>
        <Button variant="default" onClick={() => ban.reset()}>
          {t.another}
        </Button>
      </div>
    </div>
  )
}
