import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

/** What this browser remembers under a name, and how to change it. */
export function useRemembered(name: string): readonly [string, (value: string) => void] {
  const storedAs = `trunkline.${name}`
  const value = useSyncExternalStore(subscribe, () => localStorage.getItem(storedAs) ?? '')
  return [
    value,
    (changed) => {
      localStorage.setItem(storedAs, changed)
      for (const listener of listeners) listener()
    },
  ]
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
