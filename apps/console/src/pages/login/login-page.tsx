import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { TrunklineError } from '@trunkline/sdk'
import { type FormEvent, useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl'
import { Logo } from '../../app/logo.tsx'
import { Preferences } from '../../app/preferences.tsx'
import { logIn, sessions } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import styles from './login-page.module.css'

const route = getRouteApi('/login')

/**
 * The first page of a visitor who is not logged in. The router leads on to the page that was requested. Two fields need no library for
 * forms, so that it is not loaded before the overview.
 */
export function LoginPage() {
  const t = useTranslations('login')
  const { next } = route.useSearch()
  const { ended } = sessions
  const password = useRef<HTMLInputElement>(null)
  const login = useMutation({
    mutationFn: (form: FormData) => logIn(String(form.get('username')), String(form.get('password'))),
    onError(error) {
      // What was typed is kept where it was not what is wrong.
      if (password.current === null || !(error instanceof TrunklineError) || error.reason !== 'login_failed')
        return
      password.current.value = ''
      password.current.focus()
    },
  })
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    login.mutate(new FormData(event.currentTarget))
  }
  useEffect(() => {
    document.title = `${t('title')} · Trunkline`
  }, [t])
  return (
    <main className={styles.login}>
      <div className={styles.corner}>
        <Preferences />
      </div>
      <form className={styles.box} onSubmit={submit}>
        <div className={styles.brand}>
          <Logo size={32} />
          <h1>Trunkline</h1>
        </div>
        <p className={styles.lead}>{t('lead')}</p>
        {login.isError ? (
          <ErrorNotice error={login.error} />
        ) : (
          ended !== undefined &&
          ended !== 'loggedOut' && (
            <Notice tone="info" title={t(`ended.${ended}`)}>
              {next !== undefined && t('goesBack')}
            </Notice>
          )
        )}
        <TextField
          label={t('username')}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
          name="username"
        />
        <TextField
          label={t('password')}
          type="password"
          autoComplete="current-password"
          required
          name="password"
          ref={password}
        />
        <Button type="submit" look="primary" isBusy={login.isPending}>
          {t('submit')}
        </Button>
        <p className={styles.hint}>{t('hint')}</p>
      </form>
    </main>
  )
}
