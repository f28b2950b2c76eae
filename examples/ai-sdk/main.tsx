import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import { KeptChat } from './kept-chat.tsx'
import { PlainChat } from './plain-chat.tsx'

const root = document.querySelector('#root')
if (root === null) throw new Error('There is no #root.')
const pages = { '/kept.html': KeptChat, '/plain.html': PlainChat }
const Page = Object.entries(pages).find(([path]) => location.pathname.endsWith(path))?.[1] ?? Chat
createRoot(root).render(
  <StrictMode>
    <Page />
  </StrictMode>,
)
