import { useState } from 'react'
import { Button } from '@mantine/core'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { Picks } from '../fleet/picks.tsx'
import type { CommandType } from '../fleet/queries.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import { CancelButton, CloseButton } from '../../kit/dialog-buttons.tsx'
import { useForgotten, useKept } from '../../kit/draft.ts'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commandsTexts } from './commands.texts.ts'
import { Consequences, ParamFields, TypeField } from './run-fields.tsx'
import { errorsOf } from './run-form.ts'
import type { RunErrors, TypedCommand } from './run-form.ts'
import { SshQuestion } from './ssh-question.tsx'
import { useRun } from './use-run.ts'

interface Given {
  readonly type: CommandType
  readonly server?: string | undefined
  readonly servers?: ReadonlySet<string>
  readonly jail?: string | undefined
  readonly onClose: () => void
}

/** Runs a command on any servers, and follows it there. */
const RunDialog = (props: Given) => {
  const { type, server, servers, jail = '', onClose } = props
  const t = textsOf(commandsTexts).dialog
  const draft = `run ${type} ${server ?? ''} ${jail}`
  const [first] = useState<TypedCommand>(() => ({
    ...{ type, jail, ip: '', time: '', template: '', again: '' },
    servers: servers ?? new Set(server ? [server] : []),
  }))
  // Servers that were chosen before count, not those of an earlier choice; a confirmation is always typed again.
  const { typed, set } = useKept(draft, first, servers ? ['servers', 'again'] : ['again'])
  const run = useRun(typed)
  useForgotten(draft, run.batchId !== undefined)
  // Nothing is left to be typed: who only presses Enter has not read it.
  const isCalm = servers !== undefined && !type.endsWith('-ip')
  return (
    <Dialog title={t.title} onClose={onClose}>
      {run.batchId !== undefined ? (
        <Done batchId={run.batchId} onClose={onClose} />
      ) : run.question ? (
        <SshQuestion
          question={run.question}
          busy={run.isPending}
          error={run.error}
          onYes={run.agree}
          onNo={run.refuse}
        />
      ) : (
        <Form typed={typed} set={set} run={run} isCalm={isCalm} onClose={onClose} />
      )}
    </Dialog>
  )
}
export default RunDialog

const Done = ({ batchId, onClose }: { batchId: string; onClose: () => void }) => (
  <div className={parts.form}>
    <BatchReceipt batchId={batchId} list />
    <div className={parts.row}>
      <CloseButton onClick={onClose} />
    </div>
  </div>
)

const Form = (props: {
  typed: TypedCommand
  set: (change: Partial<TypedCommand>) => void
  run: ReturnType<typeof useRun>
  isCalm: boolean
  onClose: () => void
}) => {
  const { typed, set, run, isCalm, onClose } = props
  const t = textsOf(commandsTexts)
  const names = textsOf(fleetTexts).types
  const [tried, setTried] = useState(false)
  const fieldErrors = errorsOf(typed)
  const errors: RunErrors = tried ? fieldErrors : {}
  const count = typed.servers.size
  const submit = () => {
    setTried(true)
    if (Object.values(fieldErrors).every(error => error === undefined) && !run.isPending) run.start()
  }
  return (
    <PlainForm onSubmit={submit}>
      <TypeField typed={typed} set={set} focused={!isCalm} />
      <ParamFields typed={typed} set={set} errors={errors} />
      <Picks chosen={typed.servers} onChosen={servers => set({ servers })} away={() => ''} error={errors.servers} />
      {count > 0 && (
        <p className={parts.note} role="status">
          {t.runsOn(count, run.offline)}
        </p>
      )}
      <Consequences typed={typed} set={set} errors={errors} />
      <Refusal error={run.error} />
      <div className={parts.row}>
        <Button type="submit" loading={run.isPending}>
          {count === 0 ? t.dialog.submit : t.dialog.submitOn(names[typed.type], count)}
        </Button>
        <CancelButton onClick={onClose} focus={isCalm} />
      </div>
    </PlainForm>
  )
}
