import type { AnchorHTMLAttributes } from 'react'
import { useRouter } from '@tanstack/react-router'

/** A link to a path that is known only at run time, from the root of the dashboard, such as `/servers?status=offline`. */
export const PathLink = ({
  path,
  onGo,
  ...props
}: { path: string; onGo?: () => void } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'>) => {
  const router = useRouter()
  const href = router.history.createHref(path)
  return (
    <a
      {...props}
      href={href}
      onClick={event => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        onGo?.()
        void router.navigate({ href })
      }}
    />
  )
}
