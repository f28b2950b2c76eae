import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { IntlProvider } from 'use-intl'
import type { Messages } from '../../messages/en.ts'
import { sessions } from '../session/gateway.ts'
import { queryClient } from '../session/queries.ts'
import { Toasts } from '../ui/overlays/toasts.tsx'
import { chooseLanguage, type Language, loadMessages } from './language.ts'
import { LanguageContext } from './language-context.ts'
import { router } from './router.tsx'

interface AppProps {
  readonly language: Language
  readonly messages: Messages
}

export function App(initial: AppProps) {
  const [{ language, messages }, setText] = useState(initial)
  const choice = useMemo(
    () => ({
      language,
      async choose(chosen: Language) {
        const messages = await loadMessages(chosen)
        chooseLanguage(chosen)
        setText({ language: chosen, messages })
      },
    }),
    [language],
  )
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  useEffect(
    () =>
      sessions.subscribe(() => {
        // What one user has read is not for the next one.
        if (sessions.current === undefined) queryClient.clear()
        void router.invalidate()
      }),
    [],
  )
  return (
    <CSPProvider disableStyleElements>
      <IntlProvider locale={language} messages={messages} timeZone={ZONE}>
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
