import { useEffect, useRef } from 'react'
import { Button } from '@mantine/core'
import type { SshQuestion as Question } from '../fleet/ssh-asked.ts'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { commandsTexts } from './commands.texts.ts'

interface Asked {
  readonly question: Question
  readonly busy?: boolean
  readonly error?: unknown
  readonly onYes: () => void
  readonly onNo: () => void
}

/** So many hosts are named; of more only how many they are. */
const mostNamed = 5

/** The consequence of switching off a jail that guards SSH. Enter alone does not confirm it. */
export const SshQuestion = ({ question, busy = false, error, onYes, onNo }: Asked) => {
  const { jail, removes, guarded, total, unknown } = question
  const t = textsOf(commandsTexts).ssh
  const verb = removes ? t.remove : t
  const no = useRef<HTMLButtonElement>(null)
  useEffect(() => no.current?.focus(), [])
  const name = clip(jail, 64).shown
  const [host = ''] = guarded
  const first = guarded.slice(0, mostNamed).map(nameOf)
  return (
    <div className={parts.form}>
      <p className={parts.warn}>
        <bdi>
          {unknown !== null
            ? t.unknown(name, unknown)
            : guarded.length === 1
              ? t.one(name, nameOf(host))
              : t.many(name, guarded.length, first.join(', '), guarded.length - first.length)}
        </bdi>
      </p>
      <Refusal error={error} />
      <div className={parts.row}>
        <Button variant="danger" loading={busy} onClick={onYes}>
          {total === 1 ? verb.yes(name, nameOf(host)) : verb.yesMany(name, total)}
        </Button>
        <Button variant="default" ref={no} data-autofocus onClick={onNo}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </div>
  )
}

const SshDialog = (props: Asked) => {
  const t = textsOf(commandsTexts).ssh
  const { jail, removes } = props.question
  return (
    <Dialog title={(removes ? t.remove : t).title(clip(jail, 64).shown)} onClose={props.onNo}>
      <SshQuestion {...props} />
    </Dialog>
  )
}
export default SshDialog
