import { useQuery } from '@tanstack/react-query'
import { useMe } from '../../api/session.ts'
import { Loading } from '../../kit/loading.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { identityTexts } from '../identity/identity.texts.ts'
import { userQuery } from '../identity/queries.ts'
import { AccountPage } from './account-page.tsx'
import { accountTexts } from './account.texts.ts'

export const Profile = () => {
  const t = textsOf(accountTexts)
  const me = useMe()
  return <AccountPage title={t.profile}>{me && <About userId={me.id} />}</AccountPage>
}

const About = ({ userId }: { userId: number }) => {
  const t = textsOf(accountTexts)
  const words = textsOf(identityTexts)
  const user = useQuery(userQuery(userId))
  const of = user.data
  return (
    <>
      <Loading what={t.what} query={user} lines={6} />
      {of && (
        <Panel>
          <dl className={parts.details}>
            <dt>{t.username}</dt>
            <dd>
              <Stranger text={of.username} />
            </dd>
            <dt>{t.email}</dt>
            <dd>
              <Stranger text={of.email} most={254} />
            </dd>
            <dt>{t.role}</dt>
            <dd>
              {textsOf(commonTexts).roles[of.role]}
              <p className={parts.help}>{words.roleMeans[of.role]}</p>
            </dd>
            <dt>{t.access}</dt>
            <dd>{of.server_access === 'all' ? t.allServers : t.someServers(of.server_ids.length)}</dd>
            <dt>{t.provider}</dt>
            <dd>{of.oauth_provider ? words.providers[of.oauth_provider] : t.password}</dd>
            <dt>{t.lastLogin}</dt>
            <dd>{of.last_login ? <Time at={of.last_login} /> : textsOf(commonTexts).none}</dd>
            <dt>{t.created}</dt>
            <dd>
              <Time at={of.created_at} />
            </dd>
          </dl>
          {of.role !== 'Admin' && <p className={parts.help}>{t.changes}</p>}
        </Panel>
      )}
    </>
  )
}
