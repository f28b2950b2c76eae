import type { DetailEvent } from '@trunkline/sdk'
import {
  BookOpen,
  Braces,
  Brain,
  CircleDot,
  CircleHelp,
  File,
  Lightbulb,
  type LucideIcon,
  Replace,
  Workflow,
  Wrench,
} from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Badge } from '../../../ui/badge.tsx'
import { foldSteps, type Step } from './steps.ts'
import styles from './time-line.module.css'

const ICONS: Readonly<Record<Step['kind'], LucideIcon>> = {
  node: Workflow,
  tool: Wrench,
  thought: Lightbulb,
  reasoning: Brain,
  sources: BookOpen,
  variables: Braces,
  interaction: CircleHelp,
  replaced: Replace,
  file: File,
  other: CircleDot,
}

interface TimeLineProps {
  readonly details: readonly DetailEvent[]
  /** False once the reply has ended: what has not finished by then never will. */
  readonly isRunning: boolean
}

/** What the platform did on the way to its reply, step by step. What a step carries is folded, except for the sources. */
export function TimeLine({ details, isRunning }: TimeLineProps) {
  const t = useTranslations('playground')
  const steps = foldSteps(details)
  return (
    <ol className={styles.line} aria-label={t('timeLine')}>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added at the end.
        <StepRow key={index} step={step} isRunning={isRunning} />
      ))}
    </ol>
  )
}

interface StepProps {
  readonly step: Step
  readonly isRunning: boolean
}

function StepRow({ step, isRunning }: StepProps) {
  const { text, input, output, sources, values, raw } = step
  const hasContent = text + input + output !== '' || sources.length + values.length + raw.length > 0
  return (
    <li className={styles.step}>
      {hasContent ? (
        <details open={sources.length > 0}>
          <summary>
            <StepTitle step={step} isRunning={isRunning} />
          </summary>
          <StepContent step={step} />
        </details>
      ) : (
        <div className={styles.plain}>
          <StepTitle step={step} isRunning={isRunning} />
        </div>
      )}
    </li>
  )
}

function StepTitle({ step, isRunning }: StepProps) {
  const t = useTranslations('playground')
  const formats = useFormats()
  const { kind, name, state, elapsedMs } = step
  const Icon = ICONS[kind]
  const isPaired = kind === 'node' || kind === 'tool'
  return (
    <span className={styles.title}>
      <Icon aria-hidden />
      <span className={styles.kind}>{t(`steps.${kind}`)}</span>
      {name !== undefined && <span className={styles.name}>{name}</span>}
      {elapsedMs !== undefined && <span className={styles.elapsed}>{formats.duration(elapsedMs)}</span>}
      {isPaired && state === 'running' && (
        <Badge tone={isRunning ? 'accent' : 'neutral'}>
          {t(isRunning ? 'stepRunning' : 'stepUnfinished')}
        </Badge>
      )}
      {state === 'failed' && <Badge tone="danger">{t('stepFailed')}</Badge>}
    </span>
  )
}

function StepContent({ step }: { readonly step: Step }) {
  const t = useTranslations('playground')
  const { text, input, output, sources, values, raw } = step
  return (
    <>
      {text !== '' && <p className={styles.text}>{text}</p>}
      {input !== '' && <pre className={styles.data}>{input}</pre>}
      {output !== '' && <pre className={styles.data}>{output}</pre>}
      {sources.length > 0 && (
        <ul className={styles.sources}>
          {sources.map(({ title, url, text, document }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the sources of a step do not move.
            <li key={index}>
              <strong>{title ?? url ?? document}</strong>
              {text !== undefined && <p className={styles.text}>{text}</p>}
            </li>
          ))}
        </ul>
      )}
      <Values values={values} />
      {raw.length > 0 && (
        <details className={styles.raw}>
          <summary>{t('stepRaw')}</summary>
          <Values values={raw} />
        </details>
      )}
    </>
  )
}

function Values({ values }: { readonly values: readonly unknown[] }) {
  return values.map((value, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the values of a step are only added at the end.
    <pre key={index} className={styles.data}>
      {JSON.stringify(value, null, 2)}
    </pre>
  ))
}
