import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { findById } from '../find/find-request.ts'
import styles from './call-search.module.css'

/** Finds a call or a refusal from every page, by the id of the call or of the request. The only one leads to its page. */
export function CallSearch() {
  const t = useTranslations('common.search')
  const navigate = useNavigate()
  const [text, setText] = useState('')
  async function search(event: FormEvent) {
    event.preventDefault()
    const id = text.trim()
    if (id === '') return
    setText('')
    await navigate(await findById(id))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element `search` is not known to all browsers yet.
    <form className={styles.search} role="search" onSubmit={search}>
      <Search aria-hidden />
      <input
        type="search"
        value={text}
        onChange={({ target }) => setText(target.value)}
        placeholder={t('placeholder')}
        aria-label={t('label')}
        spellCheck={false}
        autoComplete="off"
      />
    </form>
  )
}
