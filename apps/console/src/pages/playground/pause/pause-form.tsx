import type { Pause } from '@trunkline/sdk'
import { type FormEvent, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Button } from '../../../ui/button.tsx'
import { Form } from '../../../ui/fields/form.tsx'
import { ErrorNotice } from '../../../ui/notice.tsx'
import type { ChatSession } from '../chats/chat-session.ts'
import { isRefusedAnswer } from '../chats/paused-turn.ts'
import type { Turn } from '../chats/turn.ts'
import styles from './pause.module.css'
import { PauseFieldControl } from './pause-field.tsx'
import { firstValues, sentFields, shownAnswer } from './pause-values.ts'
import { useTimeLeft } from './use-time-left.ts'

interface PauseFormProps {
  readonly turn: Turn
  readonly pause: Pause
  readonly session: ChatSession
  /** Whether nothing can be sent at the moment. */
  readonly isBusy: boolean
}

/** The question at which a run waits, as a form below the reply that asks it. It is gone once it was answered. */
export function PauseForm({ turn, pause, session, isBusy }: PauseFormProps) {
  const t = useTranslations('playground.pause')
  const { options, fields } = pause
  const { isPauseOver, answerError } = turn
  const [values, setValues] = useState(() => firstValues(fields))
  const form = useRef<HTMLFormElement>(null)
  const left = useTimeLeft(pause.expires_at)
  const isLocked = isBusy || isPauseOver || (left !== undefined && left <= 0)

  function answer(...[given, shown]: [Parameters<ChatSession['answer']>[1], string]) {
    // The button that has the focus is gone with the form.
    form.current?.closest<HTMLElement>('[role="log"]')?.focus()
    void session.answer(turn, given, shown)
  }
  function send(option?: Pause['options'][number]) {
    const sent = sentFields(fields, values)
    answer(
      { ...(option !== undefined && { option: option.id }), ...(sent !== undefined && { fields: sent }) },
      shownAnswer(option, fields, sent),
    )
  }
  function onSubmit(event: FormEvent) {
    event.preventDefault()
    // Enter in a field chooses none of several options.
    if (!isLocked && options.length < 2) send(options[0])
  }

  return (
    <Form className={styles.form} ref={form} aria-label={t('title')} onSubmit={onSubmit}>
      {fields.map((field) => (
        <PauseFieldControl
          key={field.name}
          field={field}
          agent={session.place.agent}
          value={values[field.name] ?? ''}
          disabled={isLocked}
          error={mistakeOf(answerError, field.name)}
          onChange={(value) =>
            setValues((all) => ({
              ...all,
              [field.name]: typeof value === 'function' ? value(String(all[field.name] ?? '')) : value,
            }))
          }
        />
      ))}
      <div className={styles.options}>
        {options.map((option) => (
          <Button key={option.id} disabled={isLocked} onClick={() => send(option)}>
            {option.title}
          </Button>
        ))}
        {options.length === 0 && fields.length > 0 && (
          <Button type="submit" disabled={isLocked}>
            {t('send')}
          </Button>
        )}
        {!isPauseOver && (
          <Button look="quiet" disabled={isBusy} onClick={() => answer({ cancel: true }, '')}>
            {t('giveUp')}
          </Button>
        )}
      </div>
      {options.length + fields.length === 0 && !isPauseOver && <p className={styles.note}>{t('text')}</p>}
      {!isPauseOver && <Expiry pause={pause} left={left} />}
      {answerError !== undefined ? (
        <ErrorNotice error={answerError} />
      ) : (
        isPauseOver && <p className={styles.note}>{t('over')}</p>
      )}
    </Form>
  )
}

function Expiry({ pause, left }: { readonly pause: Pause; readonly left: number | undefined }) {
  const t = useTranslations('playground.pause')
  const { moment, relative } = useFormats()
  if (pause.expires_at === undefined || left === undefined) return null
  const values = { time: moment(pause.expires_at), relative: relative(left) }
  return <p className={styles.note}>{left > 0 ? t('expires', values) : t('expired', values)}</p>
}

/** What the gateway has said of the value of a field. */
function mistakeOf(error: unknown, name: string): string | undefined {
  if (!isRefusedAnswer(error)) return undefined
  return error.fields?.find(({ field }) => field === `body.answer.fields.${name}`)?.message
}
