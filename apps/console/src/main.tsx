import '@fontsource-variable/inter'
import './ui/tokens.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { chosenLanguage, loadMessages } from './app/language.ts'
import { applyTheme, chosenTheme } from './app/theme.ts'

applyTheme(chosenTheme())
const language = chosenLanguage()
const messages = await loadMessages(language)
const root = document.querySelector('#root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App language={language} messages={messages} />
    </StrictMode>,
  )
