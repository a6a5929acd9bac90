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
  /** The names of the servers that it is about. */
  readonly servers: readonly string[]
  readonly busy?: boolean
  readonly error?: unknown
  readonly onYes: () => void
  readonly onNo: () => void
}

/** What it means when a jail that guards SSH is switched off: whoever only presses Enter has not read it. */
export const SshQuestion = ({ jail, servers, busy = false, error, onYes, onNo }: Asked) => {
  const t = textsOf(commandsTexts).ssh
  const no = useRef<HTMLButtonElement>(null)
  useEffect(() => no.current?.focus(), [])
  const name = clip(jail, 64).shown
  const [host = ''] = servers
  return (
    <div className={parts.form}>
      <p className={parts.warn}>{servers.length === 1 ? t.one(name, nameOf(host)) : t.many(name, servers.length)}</p>
      <Refusal error={error} />
      <div className={parts.row}>
        <Button variant="danger" loading={busy} onClick={onYes}>
          {servers.length === 1 ? t.yes(name, nameOf(host)) : t.yesMany(name, servers.length)}
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
