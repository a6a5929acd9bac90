import { createTheme } from '@mantine/core'
import type { CSSVariablesResolver, VariantColorsResolver } from '@mantine/core'

/* Mantine speaks our tokens: its own palettes are never used, their contrast was not checked. */

const mixed = (token: string) => `color-mix(in srgb, var(--${token}) 88%, var(--text))`

const variantColorResolver: VariantColorsResolver = ({ variant }) => {
  switch (variant) {
    case 'filled':
      return {
        background: 'var(--accent)',
        hover: mixed('accent'),
        color: 'var(--accent-fg)',
        border: '1px solid transparent',
      }
    case 'danger':
      return {
        background: 'var(--danger-solid)',
        hover: mixed('danger-solid'),
        color: 'var(--danger-fg)',
        border: '1px solid transparent',
      }
    case 'danger-outline':
      return {
        background: 'transparent',
        hover: 'var(--danger-bg)',
        color: 'var(--danger)',
        border: '1px solid var(--danger)',
      }
    case 'subtle':
      return {
        background: 'transparent',
        hover: 'var(--surface-2)',
        color: 'var(--text)',
        border: '1px solid transparent',
      }
    default:
      return {
        background: 'var(--surface)',
        hover: 'var(--surface-2)',
        color: 'var(--text)',
        border: '1px solid var(--border)',
      }
  }
}

const accent = 'var(--accent)'

export const theme = createTheme({
  fontFamily: 'Inter, ui-sans-serif, system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: '12px', sm: '14px', md: '14px', lg: '15px', xl: '20px' },
  lineHeights: { xs: '1.3333', sm: '1.4286', md: '1.4286', lg: '1.4667', xl: '1.4' },
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '8px', xl: '8px' },
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
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-placeholder': 'var(--muted)',
  '--mantine-color-anchor': 'var(--link)',
  '--mantine-color-error': 'var(--danger)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--surface-2)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--border)',
  '--mantine-color-disabled': 'var(--surface-2)',
  '--mantine-color-disabled-color': 'var(--muted)',
  '--mantine-color-disabled-border': 'var(--border)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-filled-hover': mixed('accent'),
  '--mantine-primary-color-contrast': 'var(--accent-fg)',
}
export const mapTokens: CSSVariablesResolver = () => ({ variables: {}, light: shared, dark: shared })
