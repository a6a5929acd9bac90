import { lazy, useState } from 'react'
import { Link } from '@tanstack/react-router'
import { meQuery, queries } from '../../api/queries.ts'
import type { Me } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark, State } from '../../kit/state.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { browserWords } from '../identity/browser-words.ts'
import identity from '../identity/identity.module.css'
import { accountTexts } from './account.texts.ts'

const AddDialog = lazy(() => import('../whitelist/add-dialog.tsx'))

/** From where one works, whether that is banned anywhere, and a way never to be locked out from there. */
export const Addresses = ({ me }: { me: Me }) => {
  const t = textsOf(accountTexts).addresses
  const { may, reason } = useMay('write')
  const [whitelisting, setWhitelisting] = useState<string>()
  const close = () => {
    setWhitelisting(undefined)
    void queries.invalidateQueries({ queryKey: meQuery.queryKey })
  }
  return (
    <Panel title={t.title}>
      <p className={parts.help}>{t.text}</p>
      <ul className={identity.rows} aria-label={t.title}>
        {me.addresses.map(address => {
          const servers = new Set(address.active_bans.map(ban => ban.server_id)).size
          return (
            <li key={address.ip} className={identity.line}>
              <div>
                <Link to="/ip/$addr" params={{ addr: address.ip }} className={parts.mono}>
                  {address.ip}
                </Link>{' '}
                {address.current && <Mark tone="ok">{t.here}</Mark>}
                <div className={parts.facts}>
                  <span>
                    <State is={servers > 0 ? 'banned' : 'expired'} word={servers > 0 ? t.banned(servers) : t.free} />
                  </span>
                  {address.whitelisted && (
                    <span>
                      <State is="whitelisted" word={t.whitelisted} />
                    </span>
                  )}
                  <span>
                    <bdi>{browserWords(address.user_agent)}</bdi>, <Time at={address.last_activity} />
                  </span>
                </div>
              </div>
              {!address.whitelisted && may && (
                <SmallButton aria-label={t.whitelistOf(address.ip)} onClick={() => setWhitelisting(address.ip)}>
                  {t.whitelist}
                </SmallButton>
              )}
            </li>
          )
        })}
      </ul>
      {!may && reason && <p className={parts.help}>{reason}</p>}
      {whitelisting !== undefined && (
        <Dialogs>
          <AddDialog given={`${whitelisting} # ${t.note(me.username)}`} onClose={close} />
        </Dialogs>
      )}
    </Panel>
  )
}
