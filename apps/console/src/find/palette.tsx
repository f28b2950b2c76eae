import { useNavigate } from '@tanstack/react-router'
import { type Ref, useEffect, useId, useImperativeHandle, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useErrorText } from '../ui/notice.tsx'
import type { Entry, PageEntry, Wanted } from './entries.ts'
import { EntryList } from './entry-list.tsx'
import styles from './palette.module.css'
import { findTarget } from './target-of.ts'
import { useMeanings } from './use-meanings.ts'

/** What the field does with the list below it. */
export interface PaletteHandle {
  /** Marks the next or the previous entry. */
  move(by: 1 | -1): void
  /** Opens the marked entry, or else the first one once all have been found. */
  enter(): void
}

/** The list of the field, for its attributes: the ids of the list and of the marked entry. */
export interface PaletteState {
  readonly list?: string | undefined
  readonly marked?: string | undefined
}

export interface PaletteProps {
  readonly ref: Ref<PaletteHandle>
  readonly wanted: Wanted
  readonly pages: readonly PageEntry[]
  onChange(state: PaletteState): void
  onClose(): void
}

/** What the text in the search field may mean. The focus stays in the field. It is loaded when the field is used. */
export function Palette({ ref, wanted, pages, onChange, onClose }: PaletteProps) {
  const t = useTranslations('search')
  const describe = useErrorText()
  const navigate = useNavigate()
  const list = useId()
  const { entries, isSearching, error, readAll } = useMeanings(wanted, pages)
  // A choice belongs to one text, and is ignored after another one was typed.
  const [chosen, setChosen] = useState<{ readonly text: string; readonly id: string | undefined }>()
  const [opening, setOpening] = useState<string>()
  const { text } = wanted
  const latest = useRef<string | undefined>(text)
  useEffect(() => {
    latest.current = text
    // A user who has left the search stays on the page they went to.
    return () => {
      latest.current = undefined
    }
  }, [text])
  const own = entries.find(({ id }) => chosen?.text === text && chosen.id === id)
  const marked = own ?? (text === '' ? undefined : entries[0])
  const hasEntries = entries.length > 0
  useEffect(() => {
    onChange(hasEntries ? { list, marked: marked?.id } : {})
    return () => onChange({})
  }, [onChange, hasEntries, list, marked?.id])

  async function open(choose: () => Promise<Entry | undefined>) {
    setOpening(text)
    const entry = await choose()
    const target = entry && (await findTarget(entry))
    // What has been typed meanwhile is not answered by the search before it.
    if (latest.current !== text) return
    setOpening(undefined)
    if (target === undefined) return
    onClose()
    await navigate(target)
  }

  useImperativeHandle(ref, () => ({
    move(by) {
      const at = marked === undefined ? -1 : entries.indexOf(marked)
      const next = at === -1 && by === -1 ? entries.length - 1 : (at + by + entries.length) % entries.length
      setChosen({ text, id: entries[next]?.id })
    },
    enter() {
      if (opening === text || (text === '' && own === undefined)) return
      void open(async () => own ?? (await readAll())[0])
    },
  }))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pressing the mouse here must not take the focus out of the field.
    <div className={styles.popup} onMouseDown={(event) => event.preventDefault()}>
      {wanted.isKey && <p className={styles.note}>{t('keyRecognised', { prefix: text })}</p>}
      {hasEntries && (
        <EntryList
          id={list}
          entries={entries}
          marked={marked?.id}
          onOpen={(entry) => void open(async () => entry)}
          onLeave={onClose}
        />
      )}
      <p className={styles.state} role="status">
        {isSearching || opening === text ? t('searching') : null}
        {!isSearching && error !== null && t('failed', { reason: describe(error) })}
        {!isSearching && error === null && wanted.isKey && !hasEntries && t('keyUnknown')}
      </p>
    </div>
  )
}
