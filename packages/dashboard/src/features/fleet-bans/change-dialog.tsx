import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { DurationField, longestFleetBan, typedDuration } from '../../kit/duration-field.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { durationTexts } from '../../kit/duration.texts.ts'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { fleetBansTexts } from './fleet-bans.texts.ts'
import type { FleetBan } from '../fleet/fleet-bans.ts'

/** Changes the reason and the end of a fleet ban, on all its servers. */
const ChangeDialog = ({ ban, onClose }: { ban: FleetBan; onClose: () => void }) => {
  const t = textsOf(fleetBansTexts).dialog
  const [reason, setReason] = useKeptState(`fleet ban ${ban.id}/reason`, ban.reason)
  const [time, setTime] = useKeptState(`fleet ban ${ban.id}/time`, '')
  const seconds = typedDuration(time, longestFleetBan)
  const save = useMutation({
    mutationFn: () =>
      api.call('PATCH /fleet/bans/{id}', {
        params: { id: ban.id },
        body: {
          ...(reason.trim() === ban.reason ? {} : { reason: reason.trim() }),
          ...(seconds === undefined || seconds === null ? {} : { duration: seconds }),
        },
      }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['fleet-bans'] })
      onClose()
    },
  })
  return (
    <FormDialog
      title={t.changeTitle(ban.entry)}
      onClose={onClose}
      onSubmit={() => {
        if (seconds !== null && !save.isPending) save.mutate()
      }}
    >
      <DurationField
        label={t.newDuration}
        help={`${t.newDurationHelp} ${textsOf(durationTexts).help}`}
        focus
        value={time}
        onValue={setTime}
        error={seconds === null ? textsOf(durationTexts).wrong : fieldProblem(save.error, 'duration')}
      />
      <TextField
        label={t.reason}
        help={t.reasonHelp}
        most={500}
        value={reason}
        onValue={setReason}
        error={fieldProblem(save.error, 'reason')}
      />
      <Refusal error={save.error} />
      <DialogButtons verb={textsOf(commonTexts).save} isRunning={save.isPending} onCancel={onClose} />
    </FormDialog>
  )
}
export default ChangeDialog
