import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import { KeptChat } from './kept-chat.tsx'

const root = document.querySelector('#root')
if (root === null) throw new Error('There is no #root.')
const isKept = location.pathname.endsWith('/kept.html')
createRoot(root).render(<StrictMode>{isKept ? <KeptChat /> : <Chat />}</StrictMode>)
