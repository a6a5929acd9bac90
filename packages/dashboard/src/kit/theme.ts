import { createTheme } from '@mantine/core'
import type { CSSVariablesResolver, VariantColorsResolver } from '@mantine/core'

/* Mantine speaks our tokens: its own palettes are never used, their contrast was not checked. */

const mixed = (token: string) => `color-mix(in srgb, var(--${token}) 88%, var(--ink))`

const variantColorResolver: VariantColorsResolver = ({ variant }) => {
  switch (variant) {
    case 'filled':
      return {
        background: 'var(--accent)',
        hover: mixed('accent'),
        color: 'var(--accent-ink)',
        border: '1px solid transparent',
      }
    case 'danger':
      return {
        background: 'var(--crit)',
        hover: mixed('crit'),
        color: 'var(--crit-ink)',
        border: '1px solid transparent',
      }
    case 'danger-outline':
      return {
        background: 'transparent',
        hover: 'var(--crit-soft)',
        color: 'var(--crit)',
        border: '1px solid var(--crit)',
      }
    case 'subtle':
      return {
        background: 'transparent',
        hover: 'var(--hover)',
        color: 'var(--ink)',
        border: '1px solid transparent',
      }
    default:
      return {
        background: 'var(--surface)',
        hover: 'var(--hover)',
        color: 'var(--ink)',
        border: '1px solid var(--line-2)',
      }
  }
}

const accent = 'var(--accent)'

export const theme = createTheme({
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '15px', xl: '17px' },
  lineHeights: { xs: '1.3333', sm: '1.5385', md: '1.5385', lg: '1.4667', xl: '1.4118' },
  radius: { xs: '3px', sm: '6px', md: '6px', lg: '10px', xl: '12px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  defaultRadius: '6px',
  cursorType: 'pointer',
  respectReducedMotion: true,
  primaryColor: 'accent',
  colors: { accent: [accent, accent, accent, accent, accent, accent, accent, accent, accent, accent] },
  variantColorResolver,
})

const shared = {
  '--mantine-color-body': 'var(--canvas)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-2)',
  '--mantine-color-placeholder': 'var(--ink-2)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--crit)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-border': 'var(--line-2)',
  '--mantine-color-disabled': 'var(--sunken)',
  '--mantine-color-disabled-color': 'var(--ink-2)',
  '--mantine-color-disabled-border': 'var(--line)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-filled-hover': mixed('accent'),
  '--mantine-primary-color-contrast': 'var(--accent-ink)',
}
export const mapTokens: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared })
