import { useTranslations } from 'use-intl'
import { Button } from '../../ui/button.tsx'
import type { Agent } from '../agents/agent.ts'
import styles from './playground.module.css'

/** Words at which these agents of the sandbox ask something back. */
const QUESTIONS: Readonly<Record<string, readonly (readonly ['choice' | 'form', string])[]>> = {
  fastgpt: [
    ['choice', 'sandbox:interactive'],
    ['form', 'sandbox:interactive=form'],
  ],
  hiagent: [['choice', 'sandbox:interactive']],
  'dify-chatflow': [
    ['choice', 'sandbox:interactive'],
    ['form', 'sandbox:interactive=text'],
  ],
}

interface SuggestionsProps {
  readonly agent: Agent
  readonly isBusy: boolean
  onChoose(query: string): void
}

/** First messages for an emulator, which show what real platforms do only if they are set up for it. */
export function Suggestions({ agent, isBusy, onChoose }: SuggestionsProps) {
  const t = useTranslations('playground.suggestions')
  const questions = QUESTIONS[agent.id] ?? []
  if (questions.length === 0) return null
  return (
    <p className={styles.suggestions}>
      {t('title')}
      {questions.map(([name, query]) => (
        <Button key={name} disabled={isBusy} onClick={() => onChoose(`${t('topic')} ${query}`)}>
          {t(name)}
        </Button>
      ))}
    </p>
  )
}
