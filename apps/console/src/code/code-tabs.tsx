import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Snippet } from '../ui/copy/copy.tsx'
import { Choices } from '../ui/fields/choices.tsx'
import styles from './code-tabs.module.css'
import { LANGUAGES, type Snippets } from './snippets.ts'

/** The same request in several languages, one at a time, and how to run it. */
export function CodeTabs({ snippets }: { readonly snippets: Partial<Snippets> }) {
  const t = useTranslations('keys.code')
  const [language, setLanguage] = useState<keyof Snippets>('curl')
  const code = snippets[language]
  if (code === undefined) return null
  return (
    <div className={styles.tabs}>
      <Choices<keyof Snippets>
        label={t('language')}
        value={language}
        options={LANGUAGES.filter((value) => value in snippets).map((value) => ({
          value,
          label: t(`languages.${value}`),
        }))}
        onChange={setLanguage}
      />
      <Snippet code={code} label={t(`languages.${language}`)} />
      <p className={styles.hint}>{t(`hints.${language}`)}</p>
    </div>
  )
}
