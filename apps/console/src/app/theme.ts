export type Theme = 'system' | 'light' | 'dark'

const STORED_AS = 'trunkline.theme'

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED_AS)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Stores the choice and shows the page in it; `system` follows the device. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(STORED_AS)
  else localStorage.setItem(STORED_AS, theme)
  applyTheme(theme)
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
