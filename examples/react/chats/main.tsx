import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { fieldsOf } from '../form.ts'
import type { Chats } from './chats.ts'
import { ChatPage } from './page.tsx'
import { chatsWithGraphql } from './with-graphql.ts'
import { chatsWithSdk } from './with-sdk.ts'

const AGENT = 'dify'
const make = new URLSearchParams(location.search).get('with') === 'graphql' ? chatsWithGraphql : chatsWithSdk

/** Asks for an API key with the permission `chat`. Your own page has its users logged in, and a server that holds the key. */
function App() {
  const [chats, setChats] = useState<Chats>()
  if (chats !== undefined) return <ChatPage chats={chats} />
  return (
    <form onSubmit={(event) => setChats(make(fieldsOf(event)('apiKey'), AGENT))}>
      <label>
        API key <input name="apiKey" type="password" autoComplete="off" required />
      </label>
      <button type="submit">Show the chats</button>
    </form>
  )
}

const root = document.querySelector('#root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
