import { useEffect, useId, useSyncExternalStore } from 'react'

/** The dialogs that are open, the topmost last. */
let open: readonly string[] = []
const listeners = new Set<() => void>()

/**
 * Whether no other dialog lies over this one, such as the one that asks for the password wherever the user is. A dialog that is
 * part of another one counts as that.
 */
export function useIsTop(isOpen: boolean): boolean {
  const id = useId()
  useEffect(() => {
    if (!isOpen) return
    set([...open, id])
    return () => set(open.filter((each) => each !== id))
  }, [isOpen, id])
  return useSyncExternalStore(subscribe, () => !open.includes(id) || open.at(-1) === id)
}

function set(dialogs: readonly string[]): void {
  open = dialogs
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
