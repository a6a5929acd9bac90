import { useEffect, useRef } from 'react'
import { Button } from '@mantine/core'
import { Dialog } from '../../parts/modal.tsx'
import parts from '../../parts/parts.module.css'
import { Refusal } from '../../parts/trouble.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { clip, nameOf } from '../../words/clip.ts'
import { commandsTexts } from './commands.texts.ts'

interface Asked {
  readonly jail: string
  /** The names of the servers where it guards SSH. */
  readonly guarded: readonly string[]
  /** On how many servers it is switched off. */
  readonly total: number
  readonly busy?: boolean
  readonly error?: unknown
  readonly onYes: () => void
  readonly onNo: () => void
}

/** So many hosts are named; of more only how many they are. */
const mostNamed = 5

/** What it means when a jail that guards SSH is switched off: whoever only presses Enter has not read it. */
export const SshQuestion = ({ jail, guarded, total, busy = false, error, onYes, onNo }: Asked) => {
  const t = textsOf(commandsTexts).ssh
  const no = useRef<HTMLButtonElement>(null)
  useEffect(() => no.current?.focus(), [])
  const name = clip(jail, 64).shown
  const [host = ''] = guarded
  const first = guarded.slice(0, mostNamed).map(nameOf)
  return (
    <div className={parts.form}>
      <p className={parts.warn}>
        <bdi>
          {guarded.length === 1
            ? t.one(name, nameOf(host))
            : t.many(name, guarded.length, first.join(', '), guarded.length - first.length)}
        </bdi>
      </p>
      <Refusal error={error} />
      <div className={parts.row}>
        <Button variant="danger" loading={busy} onClick={onYes}>
          {total === 1 ? t.yes(name, nameOf(host)) : t.yesMany(name, total)}
        </Button>
        <Button variant="default" ref={no} data-autofocus onClick={onNo}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </div>
  )
}

const SshDialog = (props: Asked) => (
  <Dialog title={textsOf(commandsTexts).ssh.title(clip(props.jail, 64).shown)} onClose={props.onNo}>
    <SshQuestion {...props} />
  </Dialog>
)
export default SshDialog
