import { useBlocker } from '@tanstack/react-router'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'

/** Asks before a page with unsaved edits is left. An ended session leads to the sign-in without a question. */
export const useLeaveGuard = (unsaved: boolean | (() => boolean)): void => {
  const isUnsaved = () => (typeof unsaved === 'function' ? unsaved() : unsaved)
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isUnsaved() &&
      next.pathname !== current.pathname &&
      !/\/login(\/|$)/.test(next.pathname) &&
      !confirm(textsOf(commonTexts).leave),
    enableBeforeUnload: isUnsaved,
  })
}
