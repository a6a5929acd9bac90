import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { canonicalJson } from '@stockade/contract/seal.ts'
import type { SealAsked } from '../../api/sealing.ts'
import { mayBeWrong, summaryQuery } from '../../api/queries.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { exactTime } from '../../lib/time.ts'
import { hasPasskeys, passkeySentence, passkeysQuery } from '../identity/passkeys.ts'
import type { Passkey } from '../identity/passkeys.ts'
import { passkeysTexts } from '../identity/passkeys.texts.ts'
import { OtherThanAsked, prepare, sign } from './sealed.ts'
import type { ToSign } from './sealed.ts'
import { sealingTexts } from './sealing.texts.ts'

/** So many hosts and commands are named; of more only how many they are. */
const mostNamed = 8

const namesOf = (names: readonly string[]) => {
  const more = names.length - mostNamed
  return names.slice(0, mostNamed).map(nameOf).join(', ') + (more > 0 ? ` ${textsOf(sealingTexts).more(more)}` : '')
}
const sentence = (error: unknown) =>
  error instanceof OtherThanAsked ? textsOf(sealingTexts).wrong(error.message) : passkeySentence(error)

/** Shows what will be signed, has it signed with a passkey, and gives the commands. */
const SealDialog = ({ asked }: { asked: SealAsked }) => {
  const t = textsOf(sealingTexts)
  const prepared = useQuery({
    queryKey: ['to-sign', asked],
    queryFn: () => prepare(asked),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })
  const passkeys = useQuery(passkeysQuery)
  const error = prepared.error ?? passkeys.error
  const close = () => asked.answer(null)
  return (
    <Dialog title={t.title} onClose={close}>
      <div className={parts.form}>
        <p>
          <bdi>{t.needs(namesOf(asked.servers))}</bdi>
        </p>
        {error && (
          <p className={parts.refusal} role="alert">
            {sentence(error)}
          </p>
        )}
        {!error && !(prepared.data && passkeys.data) && <p role="status">{t.preparing}</p>}
        {prepared.data && <Shown wanted={prepared.data} />}
        {prepared.data && passkeys.data && (
          <Signing asked={asked} wanted={prepared.data} passkeys={passkeys.data.passkeys} onClose={close} />
        )}
      </div>
    </Dialog>
  )
}
export default SealDialog

/** What the signature will be good for: read from the statements, as hosts read them. */
const Shown = ({ wanted: { prepared, statements } }: { wanted: ToSign }) => {
  const t = textsOf(sealingTexts)
  const servers = useQuery(summaryQuery).data?.servers
  const hosts = [...new Set(statements.map(({ target }) => target))].map(
    id => servers?.find(server => server.id === id)?.hostname ?? id,
  )
  const until = Math.max(...statements.map(({ expires }) => expires))
  const orders = [...new Set(statements.map(({ type, params }) => `${type} ${canonicalJson(params)}`))]
  return (
    <>
      <dl className={parts.details}>
        <dt>{t.youSign}</dt>
        <dd className={parts.mono} dir="ltr" style={{ overflowWrap: 'anywhere' }}>
          {orders.slice(0, mostNamed).map(order => (
            <div key={order}>{clip(order, 300).shown}</div>
          ))}
          {orders.length > mostNamed && t.more(orders.length - mostNamed)}
        </dd>
        <dt>{t.hosts}</dt>
        <dd>
          <bdi>{namesOf(hosts)}</bdi>
        </dd>
        <dt>{t.until}</dt>
        <dd>{exactTime(until * 1000)}</dd>
      </dl>
      {prepared.template && (
        <details>
          <summary>{t.template}</summary>
          <pre className={parts.lines} dir="ltr" tabIndex={0} role="region" aria-label={t.template}>
            {
              clip(
                `${prepared.template.jail_config}\n${prepared.template.filter_config}\n${canonicalJson(prepared.template.settings)}`,
                100_000,
              ).shown
            }
          </pre>
        </details>
      )}
      <p className={parts.help}>{t.checked}</p>
    </>
  )
}

const Signing = (props: { asked: SealAsked; wanted: ToSign; passkeys: readonly Passkey[]; onClose: () => void }) => {
  const { asked, wanted, passkeys, onClose } = props
  const t = textsOf(sealingTexts)
  const run = useMutation({
    meta: mayBeWrong,
    mutationFn: () => sign(wanted, passkeys),
    onSuccess: queued => queued && asked.answer(wanted.reply(queued)),
  })
  const can = hasPasskeys() && wanted.prepared.rp_id !== null
  const problem = run.data === null ? t.unknownKey : run.error ? sentence(run.error) : null
  return (
    <>
      {!can && <p className={parts.note}>{textsOf(passkeysTexts).unsupported}</p>}
      {passkeys.length === 0 && (
        <p className={parts.note}>
          {t.noPasskey}{' '}
          <Link to="/account/security" onClick={onClose}>
            {t.toAccount}
          </Link>{' '}
          {t.orCli}
        </p>
      )}
      {problem !== null && (
        <p className={parts.refusal} role="alert">
          {problem}
        </p>
      )}
      <div className={parts.row}>
        {can && passkeys.length > 0 && (
          <Button loading={run.isPending} onClick={() => run.mutate()}>
            {t.sign}
          </Button>
        )}
        <CancelButton onClick={onClose} focus />
      </div>
    </>
  )
}
