import { useMutation } from '@tanstack/react-query'
import { approvalAskedBy } from '@stockade/contract/seal.ts'
import { api } from '../../api/client.ts'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { sealingTexts } from './sealing.texts.ts'

/** Where a host waits for an operator's approval: a button that gives it, which opens the dialog for the signature. */
export const Approve = (props: { server: { id: string; hostname: string }; error: string | null }) => {
  const t = textsOf(sealingTexts)
  const approval = approvalAskedBy(props.error ?? '')
  const run = useMutation({
    mutationFn: (body: NonNullable<typeof approval>) =>
      api.call('POST /servers/{serverId}/commands', { params: { serverId: props.server.id }, body }),
  })
  if (!approval) return null
  const what = 'ip' in approval.params ? approval.params.ip : approval.params.port
  return (
    <>
      <Refusal error={run.error} />
      {run.data ? (
        <p role="status" className={parts.help}>
          {t.approvalSent}
        </p>
      ) : (
        <SmallButton
          aria-label={t.approveOf(String(what), nameOf(props.server.hostname))}
          loading={run.isPending}
          onClick={() => run.mutate(approval)}
        >
          {t.approve(String(what))}
        </SmallButton>
      )}
    </>
  )
}
