import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useKeptState } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { alertsTexts } from './alerts.texts.ts'
import { alertsQuery } from './queries.ts'
import type { Alert } from './queries.ts'

const hour = 3_600_000
const lengths = [1, 8, 24, 168] as const

/** Keeps the alerts of this rule on this server from being told for a while. */
const SilenceDialog = ({ alert, name, onClose }: { alert: Alert; name: string; onClose: () => void }) => {
  const t = textsOf(alertsTexts)
  const [reason, setReason] = useKeptState(`silence ${alert.id}/reason`, '')
  const [length, setLength] = useKeptState<(typeof lengths)[number]>(`silence ${alert.id}/length`, 1)
  const save = useMutation({
    mutationFn: () =>
      api.call('POST /alerts/silences', {
        body: {
          rule: alert.rule,
          target: alert.server ? { server_ids: [alert.server.id] } : { all: true },
          reason: reason.trim(),
          ends_at: new Date(Date.now() + length * hour).toISOString(),
        },
      }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: alertsQuery.queryKey })
      onClose()
    },
  })
  return (
    <FormDialog
      title={t.silenceTitle}
      onClose={onClose}
      onSubmit={() => {
        if (!save.isPending) save.mutate()
      }}
    >
      <p>{t.silenceText(`${name} ${alert.server?.hostname ?? ''}`.trim())}</p>
      <TextField
        label={t.reason}
        most={500}
        focus
        value={reason}
        onValue={setReason}
        error={fieldProblem(save.error, 'reason')}
      />
      <SelectField
        label={t.length}
        value={length}
        onValue={setLength}
        options={lengths.map(value => ({ value, text: t.lengths[value] }))}
      />
      <Refusal error={save.error} />
      <div className={parts.actions}>
        <Button type="submit" loading={save.isPending} disabled={reason.trim() === ''}>
          {t.silenceVerb}
        </Button>
      </div>
    </FormDialog>
  )
}
export default SilenceDialog
