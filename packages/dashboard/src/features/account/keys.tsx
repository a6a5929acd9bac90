import { useMe } from '../../api/session.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Keys } from '../identity/keys.tsx'
import { AccountPage } from './account-page.tsx'
import { accountTexts } from './account.texts.ts'

export const OwnKeys = () => {
  const me = useMe()
  return <AccountPage title={textsOf(accountTexts).keys}>{me && <Keys userId={me.id} role={me.role} />}</AccountPage>
}
