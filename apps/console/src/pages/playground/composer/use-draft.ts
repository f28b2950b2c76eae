import { useState } from 'react'
import type { ChatsOfUser } from '../chats/chats-of-user.ts'

/** What is written but not sent, of each chat its own. It is kept as the chats are. */
export function useDraft(chats: ChatsOfUser, name: string): readonly [string, (text: string) => void] {
  const [draft, setDraft] = useState({ name, text: chats.draft(name).text })
  const text = draft.name === name ? draft.text : chats.draft(name).text
  return [
    text,
    (changed) => {
      setDraft({ name, text: changed })
      chats.setDraft(name, { text: changed })
    },
  ]
}
