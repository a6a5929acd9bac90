import { lazy } from 'react'

/* Dialogs come when the first one opens. */
export const Confirm = lazy(() => import('./confirm.tsx'))
export const WithPassword = lazy(async () => ({ default: (await import('./confirm.tsx')).WithPassword }))
