import { useEffect, useSyncExternalStore } from 'react'
import type { ChatSession, Turn } from './chat-session.ts'

interface Chat {
  readonly turns: readonly Turn[]
  readonly isRunning: boolean
}

/** The turns of a chat. Leaving it breaks off what is running. */
export function useChat(session: ChatSession): Chat {
  const turns = useSyncExternalStore(session.subscribe, () => session.turns)
  useEffect(() => () => session.stop(), [session])
  const state = turns.at(-1)?.state
  return { turns, isRunning: state === 'waiting' || state === 'streaming' }
}
