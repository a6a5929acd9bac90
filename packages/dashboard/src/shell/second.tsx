import { Activity } from './activity.tsx'
import { Toasts } from './toasts.tsx'

/** What the shell needs only once the page is there: it comes right after it. */
const Second = () => (
  <>
    <Activity />
    <Toasts />
  </>
)
export default Second
