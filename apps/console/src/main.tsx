import '@fontsource-variable/inter'
import './ui/tokens.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { chosenLanguage } from './app/language.ts'
import { texts } from './app/texts.ts'
import { applyTheme, chosenTheme } from './app/theme.ts'

applyTheme(chosenTheme())
await texts.start(chosenLanguage())
const root = document.querySelector('#root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
