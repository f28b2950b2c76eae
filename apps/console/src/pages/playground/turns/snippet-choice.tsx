import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { chatSnippets } from '../../../snippets.ts'
import { Snippet } from '../../../ui/copy/copy.tsx'
import { Choices } from '../../../ui/fields/choices.tsx'
import { sentQuery, type Turn } from '../chats/turn.ts'

const LANGUAGES = ['curl', 'sdk', 'openai'] as const
/** Stands for the key, which belongs to the playground alone. */
const PLACEHOLDER = 'tl_your_api_key'

interface SnippetChoiceProps {
  readonly turn: Turn
  readonly agent: string
  readonly app: string
}

/** The same message in the same conversation, for other programs. */
export function SnippetChoice({ turn, agent, app }: SnippetChoiceProps) {
  const t = useTranslations('playground')
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]>('curl')
  const snippets = chatSnippets({
    baseURL: location.origin,
    agent,
    app,
    conversationId: turn.conversationId,
    query: sentQuery(turn),
    answer: turn.answer,
    files: turn.files.map(({ url }) => url),
    detail: true,
    apiKey: PLACEHOLDER,
  })
  return (
    <>
      <Choices
        label={t('copyAs')}
        value={language}
        onChange={(chosen) => setLanguage(chosen)}
        options={LANGUAGES.map((value) => ({ value, label: t(`languages.${value}`) }))}
      />
      <Snippet label={t(`languages.${language}`)} code={snippets[language]} />
    </>
  )
}
