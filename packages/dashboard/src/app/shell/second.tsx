import { Activity } from './activity.tsx'
import { CoverageAsked } from './coverage-asked.tsx'
import { KeptPreferences } from './kept-preferences.tsx'
import { Notices } from './notices.tsx'
import { SealAsked } from './seal-asked.tsx'
import { ShellKeys } from './shell-keys.tsx'
import { SshAsked } from './ssh-asked.tsx'
import { Toasts } from './toasts.tsx'

/** What the shell needs only once the page is there: it comes right after it. */
const Second = (props: { activityPlace: HTMLElement | null; noticesPlace: HTMLElement | null }) => (
  <>
    {props.noticesPlace && <Notices place={props.noticesPlace} />}
    {props.activityPlace && <Activity place={props.activityPlace} />}
    <Toasts />
    <ShellKeys />
    <KeptPreferences />
    <SshAsked />
    <SealAsked />
    <CoverageAsked />
  </>
)
export default Second
