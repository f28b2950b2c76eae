import { useMutation } from '@tanstack/react-query'
import { TrunklineError } from '@trunkline/sdk'
import { Clock } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { renewSession } from '../session/gateway.ts'
import type { Session } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields/field.tsx'
import { Form } from '../ui/fields/form.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { Actions, Dialog } from '../ui/overlays/dialog.tsx'
import { useToast } from '../ui/overlays/toasts.tsx'

export interface StayLoggedInProps {
  readonly session: Session
}

/**
 * Asks for the password in a dialog, so that the session goes on and the page keeps what it has. After "Later", a notice above the
 * page reminds of it.
 */
export function StayLoggedIn({ session }: StayLoggedInProps) {
  const t = useTranslations('account.stay')
  const [isOpen, setOpen] = useState(true)
  const time = useTimeLeft(session.expiresAtMs)
  return (
    <>
      {!isOpen && (
        <Notice
          tone="warn"
          icon={<Clock aria-hidden />}
          action={<Button onClick={() => setOpen(true)}>{t('enter')}</Button>}
        >
          <span role="timer">{t('endsIn', { time })}</span>
        </Notice>
      )}
      {isOpen && (
        <Dialog
          title={t('title')}
          description={t('lead', { time, username: session.username })}
          isOpen
          onClose={() => setOpen(false)}
        >
          <PasswordForm session={session} onLater={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

interface PasswordFormProps extends StayLoggedInProps {
  onLater(): void
}

function PasswordForm({ session, onLater }: PasswordFormProps) {
  const t = useTranslations('account.stay')
  const toast = useToast()
  const password = useRef<HTMLInputElement>(null)
  const renewal = useMutation({
    mutationFn: () => renewSession(session, password.current?.value ?? ''),
    onSuccess: () => toast(t('renewed')),
    onError(error) {
      if (error instanceof TrunklineError && error.reason === 'login_failed') password.current?.select()
    },
  })
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    // The dialog may have been opened over a form of the page, which is not sent with this one.
    event.stopPropagation()
    renewal.mutate()
  }
  return (
    <Form onSubmit={submit}>
      {renewal.isError && <ErrorNotice error={renewal.error} />}
      <input type="hidden" autoComplete="username" value={session.username} readOnly />
      <TextField
        label={t('password')}
        type="password"
        autoComplete="current-password"
        required
        ref={password}
      />
      <Actions>
        <Button onClick={onLater}>{t('later')}</Button>
        <Button type="submit" look="primary" isBusy={renewal.isPending}>
          {t('submit')}
        </Button>
      </Actions>
    </Form>
  )
}

/** Minutes and seconds, such as `4:59`. */
function useTimeLeft(untilMs: number): string {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.ceil((untilMs - nowMs) / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
