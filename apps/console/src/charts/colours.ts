/**
 * The colour that a custom property has now. The canvas does not know `light-dark()`, so an element resolves it.
 */
export function colourOf(property: `--${string}`): string {
  probe ??= document.body.appendChild(document.createElement('i'))
  probe.hidden = true
  probe.style.color = `var(${property})`
  return getComputedStyle(probe).color
}

let probe: HTMLElement | undefined

/** Calls `listener` after the page has changed between light and dark, by the device or by the menu. */
export function onThemeChange(listener: () => void): () => void {
  const device = matchMedia('(prefers-color-scheme: dark)')
  const menu = new MutationObserver(listener)
  device.addEventListener('change', listener)
  menu.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    device.removeEventListener('change', listener)
    menu.disconnect()
  }
}
