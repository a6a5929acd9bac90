import { Suspense, lazy, useId, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { queries, summaryQuery } from '../../../api/queries.ts'
import { curlOf, requestsOf } from '../../../api/requests.ts'
import { roleMay } from '../../../api/roles.ts'
import { useMe } from '../../../api/session.ts'
import { signOut } from '../../../api/sign-out.ts'
import { lookUpQuery, templatesQuery } from '../../../features/fleet/queries.ts'
import { usersQuery } from '../../../features/identity/queries.ts'
import { useRestedAddress } from '../../../features/ip/rested-address.ts'
import { Dialogs } from '../../../kit/dialogs.tsx'
import { Dialog } from '../../../kit/modal.tsx'
import parts from '../../../kit/parts.module.css'
import { plainText } from '../../../kit/plain-text.ts'
import { useTheme } from '../../../kit/preferences.ts'
import { toasts } from '../../../kit/toasts.ts'
import { Trouble } from '../../../kit/trouble.tsx'
import { copyValue } from '../../../kit/search/value-menu.tsx'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { findTexts } from './find.texts.ts'
import { Paste } from './paste.tsx'
import { addRecent, readRecent } from '../../../lib/recent.ts'
import { suggest } from './suggest.ts'
import type { Act, Suggestion } from './suggest.ts'
import styles from './find.module.css'

const Answer = lazy(() => import('../../../features/ip/answer.tsx').then(({ Answer }) => ({ default: Answer })))
const BanNow = lazy(() => import('./ban-now.tsx'))
const UnbanDialog = lazy(() => import('../../../features/ip/unban-dialog.tsx'))
const BanDialog = lazy(() => import('../../../features/bans/ban-dialog.tsx'))
const AddDialog = lazy(() => import('../../../features/whitelist/add-dialog.tsx'))

type Asked = Extract<Act, { kind: 'dialog' }>
/** With Alt, what is done about the address without opening it. By the place of the key: on a Mac, Alt writes other letters. */
const acts: Readonly<Record<string, Asked['dialog']>> = { KeyU: 'unban', KeyW: 'whitelist', KeyB: 'ban' }

/** Looks among what is known here; nothing is asked of the API for each letter. */
const FindDialog = ({ onClose }: { onClose: () => void }) => {
  const [asked, setAsked] = useState<Asked | null>(null)
  return asked ? <Ask asked={asked} onClose={onClose} /> : <Find onClose={onClose} onAsk={setAsked} />
}
export default FindDialog

/** What is found among what is known of the instance. */
const useLines = (typed: string): readonly Suggestion[] => {
  const role = useMe()?.role
  const isAdmin = role !== undefined && roleMay(role, 'admin')
  const servers = useQuery(summaryQuery).data?.servers
  const templates = useQuery({ ...templatesQuery({}), staleTime: 60_000 }).data?.templates
  const users = useQuery({ ...usersQuery({ page: 1 }), enabled: isAdmin, staleTime: 60_000 }).data?.users
  const [recent] = useState(readRecent)
  return useMemo(
    () => suggest(typed, { role, servers: servers ?? [], templates: templates ?? [], users: users ?? [], recent }),
    [typed, role, servers, templates, users, recent],
  )
}

const Find = ({ onClose, onAsk }: { onClose: () => void; onAsk: (asked: Asked) => void }) => {
  const t = textsOf(findTexts)
  const router = useRouter()
  const { choose: wear } = useTheme()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const field = useRef<HTMLInputElement>(null)
  const type = (text: string) => {
    setTyped(text)
    setAt(0)
  }
  const lines = useLines(typed)
  const current = Math.min(at, lines.length - 1)

  const run = ({ act, group, text }: Suggestion) => {
    if (act.kind === 'dialog') return onAsk(act)
    onClose()
    if (act.kind === 'go') {
      const address = /^\/ip\/([^?]+)/.exec(act.path)?.[1]
      if (address !== undefined) addRecent(address)
      else if (group === 'servers' || group === 'recent') addRecent(text)
      void router.navigate({ href: router.history.createHref(act.path) })
      return
    }
    if (act.kind === 'leave') location.assign(new URL(`.${act.path}`, document.baseURI))
    else if (act.kind === 'scheme') wear(act.scheme)
    else if (act.kind === 'copyRequest') {
      const urls = requestsOf(queries.getQueryCache().getAll())
      // Once this dialog has given the focus back: without a secure context a field needs it for a moment.
      if (urls.length > 0)
        setTimeout(() => void copyValue(urls.map(curlOf).join('\n'), t.requestCopied(urls.length)), 50)
      else toasts.show({ text: t.noRequest })
    } else void signOut().then(isOut => (isOut ? router.navigate({ to: '/login' }) : undefined))
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && lines.length > 0) {
      event.preventDefault()
      const next = (current + step + lines.length) % lines.length
      setAt(next)
      document.querySelector(`[id="${list}-${next}"]`)?.scrollIntoView({ block: 'nearest' })
    }
    const action = event.altKey ? acts[event.code] : undefined
    const about = lines.find(({ act }) => act.kind === 'dialog' && act.dialog === action)
    if (about) {
      event.preventDefault()
      run(about)
    }
    const line = lines[current]
    if (event.key === 'Enter' && line) {
      event.preventDefault()
      run(line)
    }
  }
  return (
    <Dialog title={t.label} wide onClose={onClose}>
      <div className={styles.find}>
        <div className={styles.field}>
          <input
            ref={field}
            className={parts.input}
            type="text"
            role="combobox"
            aria-label={t.label}
            aria-expanded="true"
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={lines.length > 0 ? `${list}-${current}` : undefined}
            placeholder={t.placeholder}
            {...plainText}
            maxLength={4096}
            enterKeyHint="go"
            data-autofocus
            value={typed}
            onChange={event => type(event.currentTarget.value)}
            onKeyDown={press}
          />
          <Paste onText={text => type(text.trim())} onRefused={() => field.current?.focus()} />
        </div>
        <Known typed={typed} onDone={onClose} />
        <div id={list} role="listbox" aria-label={t.results} className={styles.list}>
          {lines.map((line, index) => (
            <div key={`${line.group} ${line.text} ${index}`} role="presentation">
              {line.group !== lines[index - 1]?.group && (
                <p className={styles.group} role="presentation">
                  {t.groups[line.group]}
                </p>
              )}
              <div
                id={`${list}-${index}`}
                role="option"
                aria-selected={index === current}
                className={styles.line}
                onPointerMove={() => setAt(index)}
                onClick={() => run(line)}
              >
                <bdi className={styles.text}>{line.text}</bdi>
                {line.aside && (
                  <bdi className={styles.aside} data-keys={line.act.kind === 'dialog' || undefined}>
                    {line.aside}
                  </bdi>
                )}
              </div>
            </div>
          ))}
        </div>
        {lines.length === 0 ? (
          <p className={parts.muted} role="status">
            {t.none(typed.trim())} {t.noneHint}
          </p>
        ) : (
          <p className={styles.hint}>{t.hint}</p>
        )}
      </div>
    </Dialog>
  )
}

/** What was chosen about an address, in the same dialogs as on its page. */
const Ask = ({ asked: { dialog, address }, onClose }: { asked: Asked; onClose: () => void }) => (
  <Dialogs>
    {dialog === 'ban' && <BanDialog ip={address} onClose={onClose} />}
    {dialog === 'whitelist' && <AddDialog given={address} onClose={onClose} />}
    {dialog === 'unban' && <AskUnban address={address} onClose={onClose} />}
  </Dialogs>
)
const AskUnban = ({ address, onClose }: { address: string; onClose: () => void }) => {
  const t = textsOf(findTexts)
  const query = useQuery(lookUpQuery(address))
  return query.data ? (
    <UnbanDialog found={query.data} onClose={onClose} />
  ) : (
    <Dialog title={t.unban(address)} onClose={onClose}>
      <Trouble what={t.whatIp(address)} query={query} />
      {query.isPending && <p className={parts.muted}>{t.loading}</p>}
    </Dialog>
  )
}

/** What is known of the address that was typed, in one sentence; asked for when the typing rests. */
const Known = ({ typed, onDone }: { typed: string; onDone: () => void }) => {
  const role = useMe()?.role
  const address = useRestedAddress(typed)
  const lookUp = useQuery({ ...lookUpQuery(address ?? ''), enabled: address !== undefined }).data
  return address === undefined || !lookUp ? null : (
    <Suspense>
      <div className={styles.known} role="status">
        <Answer found={lookUp} brief />
      </div>
      {role !== undefined && roleMay(role, 'write') && <BanNow key={lookUp.ip} found={lookUp} onDone={onDone} />}
    </Suspense>
  )
}
