import { useRemembered } from './remembered.ts'

/** How many rows a list can read at a time. */
export const PAGE_SIZES = [25, 50, 100] as const

const SIZE_DEFAULT = 50

/** The size that was chosen in this browser, for all lists, and how to choose another one. */
export function usePageSize(): readonly [number, (size: number) => void] {
  const [stored, remember] = useRemembered('pageSize')
  const size = PAGE_SIZES.find((known) => String(known) === stored) ?? SIZE_DEFAULT
  return [size, (chosen) => remember(String(chosen))]
}
