import { Button } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ButtonProps } from '@mantine/core'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Props = ButtonProps &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> & { ref?: Ref<HTMLAnchorElement> }

/** A link that looks like a button: for going somewhere, as the main thing to do. */
export const ButtonLink = createLink((props: Props) => <Button component="a" {...props} />)
