import '@fontsource-variable/inter'
import './ui/tokens.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { chosenLanguage } from './app/language.ts'
import { texts } from './app/texts.ts'
import { applyTheme, chosenTheme } from './app/theme.ts'
import { tabs } from './session/gateway.ts'

applyTheme(chosenTheme())
// A session of another tab is there as soon as the texts are.
await Promise.all([texts.start(chosenLanguage()), tabs.ask()])
const root = document.querySelector('#root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
