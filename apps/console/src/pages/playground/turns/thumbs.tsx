import { useMutation } from '@tanstack/react-query'
import type { Feedback } from '@trunkline/sdk'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { client } from '../../../session/gateway.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/fields/field.tsx'
import { ErrorNotice } from '../../../ui/notice.tsx'
import type { ChatSession } from '../chats/chat-session.ts'
import type { Turn } from '../chats/turn.ts'
import styles from './turn.module.css'

const THUMBS = [
  ['up', ThumbsUp],
  ['down', ThumbsDown],
] as const
const TEXT_CHARACTERS_MAX = 2_000

interface ThumbsProps {
  readonly turn: Turn
  readonly callId: string
  readonly session: ChatSession
}

/** Whether the answer was good, and why. A second press takes the rating back. */
export function Thumbs({ turn, callId, session }: ThumbsProps) {
  const t = useTranslations('playground.rating')
  const { rating, ratingText } = turn
  const [text, setText] = useState(ratingText)
  const rate = useMutation({
    mutationFn: (feedback: Feedback) => client.conversations.rate(callId, feedback),
    onSuccess({ rating: rated, text: said }) {
      session.rated(turn, rated ?? undefined, said ?? '')
      setText(said ?? '')
    },
  })
  return (
    <>
      {THUMBS.map(([value, Icon]) => (
        <IconButton
          key={value}
          label={t(value)}
          aria-pressed={rating === value}
          onClick={() => {
            if (!rate.isPending) rate.mutate({ rating: rating === value ? null : value })
          }}
        >
          <Icon aria-hidden />
        </IconButton>
      ))}
      {rating !== undefined && (
        <form
          className={styles.remark}
          onSubmit={(event) => {
            event.preventDefault()
            rate.mutate({ rating, text })
          }}
        >
          <TextField
            label={t('text')}
            value={text}
            maxLength={TEXT_CHARACTERS_MAX}
            autoComplete="off"
            onChange={({ target }) => setText(target.value)}
          />
          <Button type="submit" isBusy={rate.isPending} disabled={text === ratingText}>
            {t('send')}
          </Button>
        </form>
      )}
      {rate.isError && <ErrorNotice error={rate.error} />}
      {rate.data?.passed_on === 'failed' && (
        <p className={styles.note} role="status">
          {t('notPassedOn')}
        </p>
      )}
    </>
  )
}
