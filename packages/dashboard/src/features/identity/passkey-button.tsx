import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { statusOf } from '../../api/client.ts'
import { mayBeWrong } from '../../api/queries.ts'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { hasPasskeys, passkeySentence } from './passkeys.ts'
import { passkeysTexts } from './passkeys.texts.ts'

/** Runs an action that needs a passkey. Where passkeys are unavailable, it shows the reason instead of the button. */
export const PasskeyButton = <T,>(props: {
  words: string
  act: () => Promise<T>
  onDone: (result: T) => void
  className?: string | undefined
  fullWidth?: boolean
  filled?: boolean
}) => {
  const t = textsOf(passkeysTexts)
  const run = useMutation({ meta: mayBeWrong, mutationFn: props.act, onSuccess: props.onDone })
  if (!hasPasskeys()) return <p className={parts.help}>{t.unsupported}</p>
  return (
    <>
      {run.error && (
        <p className={parts.refusal} role="alert">
          {passkeySentence(run.error)}
        </p>
      )}
      {statusOf(run.error) !== 409 && (
        <Button
          variant={props.filled ? 'filled' : 'default'}
          fullWidth={props.fullWidth ?? false}
          className={props.className}
          loading={run.isPending}
          onClick={() => run.mutate()}
        >
          {props.words}
        </Button>
      )}
    </>
  )
}
