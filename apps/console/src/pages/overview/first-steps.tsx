import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import type { FirstStepsQuery } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import styles from './first-steps.module.css'

interface FirstStepsProps {
  readonly found: FirstStepsQuery
  /** Whether the first call has been counted. */
  readonly isCounted: boolean
  onDone(): void
}

/** The way from an empty installation to the first call. */
export function FirstSteps({ found, isCounted, onDone }: FirstStepsProps) {
  const t = useTranslations('overview.steps')
  const { role } = useSession()
  const hasKey = isCounted || (found.apiKeys?.totalCount ?? 0) > 0
  const look = (isNext: boolean) => buttonClass(isNext ? 'primary' : 'plain')
  return (
    <Card title={t('title')}>
      <ol className={styles.steps}>
        <Step
          number={1}
          isDone={hasKey}
          title={t('key')}
          hint={t(role === 'user' ? 'keyOfAdmin' : 'keyHint')}
        >
          {role !== 'user' && (
            <Link to="/keys" search={{ new: true }} className={look(!hasKey)}>
              {t('makeKey')}
            </Link>
          )}
        </Step>
        <Step number={2} isDone={isCounted} title={t('ask')} hint={t('askHint')}>
          <Link to="/agents" className={look(hasKey && !isCounted)}>
            {t('askAgent')}
          </Link>
        </Step>
        <Step number={3} isDone={isCounted} title={t('count')} hint={t(isCounted ? 'counted' : 'countHint')}>
          {isCounted && (
            <Button look="primary" onClick={onDone}>
              {t('toNumbers')}
            </Button>
          )}
        </Step>
      </ol>
    </Card>
  )
}

interface StepProps {
  readonly number: number
  readonly isDone: boolean
  readonly title: string
  readonly hint: string
  readonly children: ReactNode
}

function Step({ number, isDone, title, hint, children }: StepProps) {
  const t = useTranslations('overview.steps')
  return (
    <li className={styles.step}>
      <span className={classNames(styles.mark, isDone && styles.done)}>
        {isDone ? <Check role="img" aria-label={t('done')} /> : number}
      </span>
      <div className={styles.words}>
        <h3>{title}</h3>
        <p>{hint}</p>
      </div>
      <div>{children}</div>
    </li>
  )
}
