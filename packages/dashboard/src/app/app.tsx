import '../kit/styles/mantine.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { queries } from '../api/queries.ts'
import { styleNonce } from '../lib/place.ts'
import { loadAhead } from './ahead.ts'
import { router } from './router.tsx'
import { preferences } from '../lib/preferences.ts'
import { mapTokens, theme } from '../kit/theme.ts'

/** The same name as in `boot.js`, which sets the scheme before the first paint. */
const schemes = localStorageColorSchemeManager({ key: 'stockade-scheme' })

export const start = async (): Promise<void> => {
  // The scroll lock of dialogs makes style elements of its own.
  setNonce(styleNonce)
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no root element.')
  const dress = () => (document.documentElement.dataset.density = preferences.read().density)
  dress()
  preferences.watch(dress)
  const loaded = router.load()
  // After the question who one is, which all else waits for.
  setTimeout(() => loadAhead(router))
  // The skeleton stays until there is something to show in its place.
  await loaded
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={mapTokens}
        colorSchemeManager={schemes}
        defaultColorScheme="auto"
        getStyleNonce={() => styleNonce}
        withStaticClasses
      >
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
