import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'

const root = document.querySelector('#root')
if (root === null) throw new Error('There is no #root.')
createRoot(root).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
)
