import { Search } from 'lucide-react'
import { type ComponentType, type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import type { PageEntry } from '../find/entries.ts'
import { keyPrefixIn } from '../find/key-secret.ts'
import type { PaletteHandle, PaletteProps, PaletteState } from '../find/palette.tsx'
import { classNames } from '../ui/class-names.ts'
import { loadPart } from '../ui/load-part.ts'
import { useErrorText } from '../ui/notice.tsx'
import { useToast } from '../ui/overlays/toasts.tsx'
import styles from './search-field.module.css'
import { texts } from './texts.ts'

/** What is found is shown by a part that is loaded when the field is used for the first time. */
export async function loadPalette(): Promise<ComponentType<PaletteProps>> {
  const [{ Palette }] = await Promise.all([loadPart(() => import('../find/palette.tsx')), texts.loadPages()])
  return Palette
}

const IS_APPLE = /Mac|iP/.test(navigator.platform)
const NOTHING = { text: '', isKey: false }

/**
 * The search of every page. It is opened by typing into the field, or by a shortcut, which brings it before the page, wherever
 * that is scrolled to.
 */
export function SearchField({ pages }: { readonly pages: readonly PageEntry[] }) {
  const t = useTranslations('common.search')
  const toast = useToast()
  const describe = useErrorText()
  const [wanted, setWanted] = useState(NOTHING)
  const [place, setPlace] = useState<'closed' | 'below' | 'before'>('closed')
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>()
  const [{ list, marked }, setState] = useState<PaletteState>({})
  const field = useRef<HTMLInputElement>(null)
  const palette = useRef<PaletteHandle>(null)
  const isEntered = useRef(false)
  const before = useRef<Element>(null)

  function open(where: 'below' | 'before') {
    setPlace((current) => (current === 'closed' ? where : current))
    loadPalette().then(
      (loaded) => setPalette(() => loaded),
      (error: unknown) => {
        setPlace('closed')
        toast(describe(error))
      },
    )
  }

  function close() {
    setWanted(NOTHING)
    setPlace('closed')
    // The page that has been opened, or the one that was left by the shortcut, is read on.
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true })
    before.current = null
  }

  useEffect(() => {
    function openByShortcut(event: globalThis.KeyboardEvent) {
      const { key, metaKey, ctrlKey, shiftKey, altKey } = event
      const isShortcut = key.toLowerCase() === 'k' && (IS_APPLE ? metaKey : ctrlKey) && !shiftKey && !altKey
      // A dialog keeps the focus.
      if (!isShortcut || document.querySelector('[role=dialog], [role=alertdialog]') !== null) return
      event.preventDefault()
      if (document.activeElement !== field.current) before.current = document.activeElement
      open('before')
      field.current?.focus({ preventScroll: true })
      field.current?.select()
    }
    document.addEventListener('keydown', openByShortcut)
    return () => document.removeEventListener('keydown', openByShortcut)
  })

  /** A whole API key, such as one that has leaked, is cut to its prefix before anything is done with it. */
  function type(text: string) {
    const prefix = keyPrefixIn(text)
    setWanted({ text: prefix ?? text, isKey: prefix !== undefined })
    open('below')
  }

  function press(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && place !== 'closed') {
      event.preventDefault()
      close()
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined
    if (by === undefined) return
    event.preventDefault()
    if (place === 'closed') open('below')
    else palette.current?.move(by)
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    open('below')
    if (palette.current === null) isEntered.current = true
    else palette.current.enter()
  }

  return (
    <div className={styles.place}>
      {place === 'before' && <div className={styles.backdrop} aria-hidden />}
      {/* biome-ignore lint/a11y/useSemanticElements: the element `search` is not known to all browsers yet. */}
      <form
        className={classNames(
          styles.search,
          place !== 'closed' && styles.open,
          place === 'before' && styles.before,
        )}
        role="search"
        data-open={place !== 'closed'}
        onSubmit={submit}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (place !== 'closed' && !currentTarget.contains(relatedTarget)) setPlace('closed')
        }}
      >
        <Search aria-hidden />
        <input
          ref={field}
          type="search"
          role="combobox"
          aria-expanded={list !== undefined}
          aria-controls={list}
          aria-activedescendant={marked}
          aria-autocomplete="list"
          aria-keyshortcuts={IS_APPLE ? 'Meta+K' : 'Control+K'}
          value={wanted.text}
          maxLength={200}
          onChange={({ target }) => type(target.value)}
          onClick={() => open('below')}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text')
            if (keyPrefixIn(pasted) === undefined) return
            // So that it is never in the field, from which the browser could bring it back.
            event.preventDefault()
            type(pasted)
          }}
          onKeyDown={press}
          placeholder={t('placeholder')}
          aria-label={t('label')}
          spellCheck={false}
          autoComplete="off"
        />
        <kbd aria-hidden>{IS_APPLE ? '⌘K' : 'Ctrl K'}</kbd>
        {place !== 'closed' && Palette !== undefined && (
          <Palette
            ref={(handle) => {
              palette.current = handle
              if (handle === null || !isEntered.current) return
              isEntered.current = false
              handle.enter()
            }}
            wanted={{ ...wanted, text: wanted.text.trim() }}
            pages={pages}
            onChange={setState}
            onClose={close}
          />
        )}
      </form>
    </div>
  )
}
