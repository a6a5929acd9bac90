import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api, statusOf } from '../../api/client.ts'
import type { ProofAsked } from '../../api/proof.ts'
import { mayBeWrong } from '../../api/queries.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/text-field.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { PasswordField } from '../sign-in/password-field.tsx'
import { identityTexts } from './identity.texts.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { proveByPasskey } from './passkeys.ts'
import { passkeysTexts } from './passkeys.texts.ts'

interface Proof {
  readonly password: string
  readonly code: string
}

/** Asks for the password or a code, or sends to the provider, before something dangerous is done. */
const ProofDialog = ({ methods, answer }: ProofAsked) => {
  const { proof: t } = textsOf(identityTexts)
  const [typed, setTyped] = useState<Proof>({ password: '', code: '' })
  const { password, code } = typed
  const [missing, setMissing] = useState(false)
  const nothing = password === '' && code === ''
  const run = useMutation({
    meta: mayBeWrong,
    mutationFn: () =>
      api.call('POST /auth/step-up', {
        body: { ...(password === '' ? {} : { password }), ...(code === '' ? {} : { code: code.trim() }) },
      }),
    onSuccess: () => answer(true),
  })
  const provider = methods.find(isProvider)
  const byHand = methods.includes('password') || methods.includes('totp')
  const submit = () => {
    setMissing(nothing && byHand)
    // The provider's sign-in in the other tab has proved it: the request tells.
    if (nothing && !byHand && provider) answer(true)
    else if (!nothing && !run.isPending) run.mutate()
  }
  const wrong = statusOf(run.error) === 401 ? sentenceOf(run.error) : undefined
  return (
    <FormDialog title={t.title} onClose={() => answer(false)} onSubmit={submit}>
      <p>{t.text}</p>
      <Typed methods={methods} typed={typed} onTyped={setTyped} missing={missing} wrong={wrong} />
      {methods.includes('passkey') && (
        <PasskeyButton words={textsOf(passkeysTexts).use} act={proveByPasskey} onDone={() => answer(true)} />
      )}
      {provider && <ByProvider provider={provider} />}
      {wrong === undefined && <Refusal error={run.error} />}
      <div className={parts.row}>
        {(byHand || provider) && (
          <Button type="submit" loading={run.isPending}>
            {t.go}
          </Button>
        )}
        <CancelButton onClick={() => answer(false)} />
      </div>
    </FormDialog>
  )
}
export default ProofDialog

type Provider = 'provider_a' | 'provider_b'
const isProvider = (method: string): method is Provider => method === 'provider_a' || method === 'provider_b'
const ByProvider = ({ provider }: { provider: Provider }) => {
  const { proof: t, providers } = textsOf(identityTexts)
  return (
    <p>
      <a href={`${ownAddress}/api/v1/auth/${provider}`} target="_blank" rel="noopener">
        {t.provider(providers[provider])}
      </a>{' '}
      {t.providerThen}
    </p>
  )
}

/** The password, and the code: a refusal stands at the one that was typed. */
const Typed = (props: {
  methods: ProofAsked['methods']
  typed: Proof
  onTyped: (typed: Proof) => void
  missing: boolean
  wrong: string | undefined
}) => {
  const { proof: t, password: words } = textsOf(identityTexts)
  const { methods, typed, onTyped, missing, wrong } = props
  const { password, code } = typed
  const hasPassword = methods.includes('password')
  return (
    <>
      {hasPassword && (
        <PasswordField
          label={words.yours}
          error={missing ? words.missing : code === '' ? wrong : undefined}
          value={password}
          onValue={typedPassword => onTyped({ ...typed, password: typedPassword })}
          complete="current-password"
        />
      )}
      {methods.includes('totp') && (
        <TextField
          label={hasPassword ? t.orCode : t.code}
          error={code === '' ? undefined : wrong}
          name="code"
          complete="one-time-code"
          dir="ltr"
          value={code}
          onValue={typedCode => onTyped({ ...typed, code: typedCode })}
        />
      )}
    </>
  )
}
