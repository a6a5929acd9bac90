import { Trouble } from './trouble.tsx'
import type { Asked } from './trouble.tsx'
import { Waiting } from './waiting.tsx'

/** In the place of an answer: lines while it is on its way, or why there is none. */
export const Loading = (props: { what: string; query: Asked & { readonly isPending: boolean }; lines?: number }) => (
  <>
    <Trouble what={props.what} query={props.query} />
    {props.query.isPending && <Waiting {...(props.lines === undefined ? {} : { lines: props.lines })} />}
  </>
)
