import type { ComponentProps } from 'react'
import { Button } from '@mantine/core'

/** A button within a row or a line of text. */
export const SmallButton = (props: ComponentProps<typeof Button<'button'>>) => (
  <Button size="xs" variant="default" {...props} />
)
