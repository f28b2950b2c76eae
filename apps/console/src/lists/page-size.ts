import { useSyncExternalStore } from 'react'

/** How many rows a list can read at a time. */
export const PAGE_SIZES = [25, 50, 100] as const

const SIZE_DEFAULT = 50
const STORED_AS = 'trunkline.pageSize'
const listeners = new Set<() => void>()

/** The size that was chosen in this browser, for all lists. */
export function usePageSize(): number {
  return useSyncExternalStore(subscribe, chosenSize)
}

export function choosePageSize(size: number): void {
  localStorage.setItem(STORED_AS, String(size))
  for (const listener of listeners) listener()
}

function chosenSize(): number {
  const stored = Number(localStorage.getItem(STORED_AS))
  return PAGE_SIZES.find((size) => size === stored) ?? SIZE_DEFAULT
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
