import { useNavigate } from '@tanstack/react-router'
import { TrunklineError } from '@trunkline/sdk'
import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { CallDocument } from '../generated/graphql.ts'
import { graphqlQuery, queryClient } from '../session/queries.ts'
import styles from './call-search.module.css'

/** Where the gateway does not answer, the page of the call says so. */
async function mayBeCall(id: string): Promise<boolean> {
  try {
    return (await queryClient.fetchQuery(graphqlQuery(CallDocument, { id }))).call !== null
  } catch (error) {
    return !(error instanceof TrunklineError && error.status === 404)
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Finds a call from every page: by its id, which leads to its page, or by the id of its request, which is looked for in the
 * range of the list of calls. Both have the same form where the gateway has made them.
 */
export function CallSearch() {
  const t = useTranslations('common.search')
  const navigate = useNavigate()
  const [text, setText] = useState('')
  async function search(event: FormEvent) {
    event.preventDefault()
    const id = text.trim()
    if (id === '') return
    setText('')
    await navigate(
      UUID.test(id) && (await mayBeCall(id))
        ? { to: `/calls/${id}` }
        : { to: '/calls', search: { requestId: id } as never },
    )
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
