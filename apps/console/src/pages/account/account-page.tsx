import { useMutation, useQuery } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useContractResolver } from '../../form/contract-resolver.ts'
import { isShownAtFields, showMistakes } from '../../form/show-mistakes.ts'
import { useFormats } from '../../format/use-formats.ts'
import { MeDocument } from '../../generated/graphql.ts'
import { ChangePassword } from '../../generated/validators.js'
import { client, sessions } from '../../session/gateway.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Actions } from '../../ui/overlays/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import styles from './account-page.module.css'
import { LogOutButton } from './log-out-button.tsx'

/** The user's own record, password and the way out. */
export function AccountPage() {
  const t = useTranslations('account')
  return (
    <Page title={t('title')} actions={<LogOutButton />}>
      <Card title={t('you')}>
        <Record />
      </Card>
      <Card title={t('changePassword')}>
        <PasswordForm />
      </Card>
    </Page>
  )
}

function Record() {
  const t = useTranslations('account')
  const common = useTranslations('common')
  const formats = useFormats()
  const { role } = useSession()
  const { data, error, refetch } = useQuery(graphqlQuery(MeDocument, {}))
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined) return <Loading />
  const { me } = data
  if (me === null || me === undefined) return null
  const { quota } = me
  const used = t('quotaUsed', {
    used: formats.count(quota.apiCallsCount),
    max: formats.count(quota.maxApiCalls),
  })
  return (
    <Facts
      facts={[
        [t('username'), me.username],
        [t('role'), common(`roles.${role}`)],
        [t('lastLogin'), me.lastLogin === null ? '–' : formats.moment(me.lastLogin)],
        [
          t('quota'),
          quota.resetsAt === null
            ? used
            : `${used} · ${t('quotaResets', { at: formats.moment(quota.resetsAt) })}`,
        ],
      ]}
    />
  )
}

interface Passwords {
  readonly current_password: string
  readonly new_password: string
  readonly again: string
}

function bodyOf({ again: _, ...body }: Passwords) {
  return body
}

/** Changing the password ends every access token of the user, this one included. */
function PasswordForm() {
  const t = useTranslations('account')
  const resolver = useContractResolver<Passwords>(ChangePassword, bodyOf)
  const form = useForm<Passwords>({
    defaultValues: { current_password: '', new_password: '', again: '' },
    resolver,
  })
  const { register, handleSubmit, formState, setError } = form
  const { username } = useSession()
  const change = useMutation({
    mutationFn: (values: Passwords) => client.users.changePassword(bodyOf(values)),
    onSuccess() {
      sessions.end('passwordChanged')
    },
    onError: (error) => showMistakes(error, form),
  })
  function submit(values: Passwords) {
    if (values.again === values.new_password) change.mutate(values)
    else setError('again', { message: t('passwordsDiffer') })
  }
  return (
    <Form className={styles.form} onSubmit={handleSubmit(submit)}>
      {change.isError && !isShownAtFields(change.error, form) && <ErrorNotice error={change.error} />}
      <input type="hidden" autoComplete="username" value={username} readOnly />
      <TextField
        label={t('currentPassword')}
        type="password"
        autoComplete="current-password"
        error={formState.errors.current_password?.message}
        {...register('current_password')}
      />
      <TextField
        label={t('newPassword')}
        hint={t('endsSessions')}
        type="password"
        autoComplete="new-password"
        error={formState.errors.new_password?.message}
        {...register('new_password')}
      />
      <TextField
        label={t('newPasswordAgain')}
        type="password"
        autoComplete="new-password"
        error={formState.errors.again?.message}
        {...register('again')}
      />
      <Actions>
        <Button type="submit" look="primary" isBusy={change.isPending}>
          {t('changePassword')}
        </Button>
      </Actions>
    </Form>
  )
}
