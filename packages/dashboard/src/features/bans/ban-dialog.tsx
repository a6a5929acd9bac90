import { Button } from '@mantine/core'
import { BatchReceipt, FleetBanReceipt } from '../fleet/receipts.tsx'
import { CommandProgress } from '../fleet/command-progress.tsx'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, canForce } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import { BanFields } from './ban-fields.tsx'
import { useBanForm } from './ban-form.ts'
import type { BanForm, BanProposal, BanRequest } from './ban-form.ts'

/** Bans an address or a range: on all servers and later ones, on those with a tag, or on chosen ones. */
const BanDialog = ({ onClose, ...proposal }: BanProposal & { readonly onClose: () => void }) => {
  const t = textsOf(banDialogTexts)
  const form = useBanForm(proposal)
  const request = form.ban.data
  const ip = form.typed.ip.trim()
  return (
    <Dialog title={request ? t.banning(ip) : t.title} onClose={onClose}>
      {request ? (
        <Followed request={request} form={form} onClose={onClose} />
      ) : (
        <PlainForm onSubmit={() => form.submit()}>
          <BanFields form={form} />
          <Refusal error={form.ban.error} />
          <div className={parts.row}>
            <Submit form={form} />
            <CancelButton onClick={onClose} />
          </div>
        </PlainForm>
      )}
    </Dialog>
  )
}
export default BanDialog

/** The button says how many servers it is about, and what it would do in spite of a refusal. */
const Submit = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const { ban, chosenServers, target } = form
  const isForced = canForce(ban.error)
  const words =
    target.value.kind === 'all'
      ? isForced
        ? t.forceOnAll
        : t.submitOnAll
      : (isForced ? t.forceOn : t.submitOn)(chosenServers.length)
  return isForced ? (
    <Button variant="danger" onClick={() => ban.mutate(true)} loading={ban.isPending}>
      {words}
    </Button>
  ) : (
    <Button type="submit" loading={ban.isPending}>
      {words}
    </Button>
  )
}

/** From the click to the last server. */
const Followed = ({ request, form, onClose }: { request: BanRequest; form: BanForm; onClose: () => void }) => {
  const t = textsOf(banDialogTexts)
  const [first] = form.chosenServers
  return (
    <div className={parts.form}>
      {'fleetBanId' in request && <FleetBanReceipt id={request.fleetBanId} />}
      {'commandId' in request && (
        <>
          <p>
            <bdi>{nameOf(first?.hostname ?? '')}</bdi>
          </p>
          <CommandProgress commandId={request.commandId} done={t.banned} />
        </>
      )}
      {'batchId' in request && <BatchReceipt batchId={request.batchId} list />}
      <div className={parts.row}>
        <Button onClick={onClose}>{t.done}</Button>
        <Button variant="default" onClick={() => form.ban.reset()}>
          {t.another}
        </Button>
      </div>
    </div>
  )
}
