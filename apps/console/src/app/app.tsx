import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { IntlProvider } from 'use-intl'
import { sessions } from '../session/gateway.ts'
import { queryClient } from '../session/queries.ts'
import { Toasts } from '../ui/overlays/toasts.tsx'
import { type Language, localeOf } from './language.ts'
import { LanguageContext } from './language-context.ts'
import { router } from './router.tsx'
import { texts } from './texts.ts'

export function App() {
  const { language, messages } = useSyncExternalStore(texts.subscribe, () => texts.current)
  const choice = useMemo(() => ({ language, choose: (chosen: Language) => texts.choose(chosen) }), [language])
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  useEffect(() => {
    let shownId = sessions.current?.id
    return sessions.subscribe(() => {
      const { id } = sessions.current ?? {}
      // A renewed token changes nothing of what is shown.
      if (id === shownId) return
      shownId = id
      // What one user has read is not for the next one.
      if (id === undefined) queryClient.clear()
      void router.invalidate()
    })
  }, [])
  return (
    <CSPProvider disableStyleElements>
      <IntlProvider locale={localeOf(language)} messages={messages} timeZone={ZONE}>
        <LanguageContext value={choice}>
          <QueryClientProvider client={queryClient}>
            <Toasts>
              <RouterProvider router={router} />
            </Toasts>
          </QueryClientProvider>
        </LanguageContext>
      </IntlProvider>
    </CSPProvider>
  )
}

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
