import type { MouseEvent } from 'react'

/**
 * Follows the link in the header of a row that was clicked anywhere: in a new tab with the middle button or the keys for it, as
 * a click on the link itself does. What can be clicked by itself keeps its clicks, and text can be selected. A link that lies
 * over the whole row would take both away.
 */
export function openRow(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget, button, ctrlKey, metaKey, shiftKey } = event
  if (!(target instanceof Element) || target.closest('a, button, input, select, label, summary') !== null)
    return
  const link = currentTarget.querySelector<HTMLAnchorElement>('th a')
  if (link === null || button > 1 || getSelection()?.isCollapsed === false) return
  if (button === 1 || ctrlKey || metaKey || shiftKey) window.open(link.href, '_blank', 'noopener')
  else link.click()
}
