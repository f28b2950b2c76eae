import { useMutation } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useContractResolver } from '../../form/contract-resolver.ts'
import { SetPassword } from '../../generated/validators.js'
import { client, sessions } from '../../session/gateway.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { PasswordField } from './password-field.tsx'
import { rereadUsers, type UserRecord } from './user-record.ts'

interface Values {
  readonly password: string
}

/** Sets the password of a user who has lost it. */
export function PasswordDialog({ user, onClose }: { readonly user: UserRecord; onClose(): void }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const toast = useToast()
  const { userId } = useSession()
  const { username } = user
  const isSelf = user.id === userId
  const { register, handleSubmit, formState, setValue, getValues } = useForm<Values>({
    defaultValues: { password: '' },
    resolver: useContractResolver<Values>(SetPassword, ({ password }) =>
      password === '' ? {} : { password },
    ),
  })
  const change = useMutation({
    mutationFn: (values: Values) => client.users.setPassword(user.id, values),
    onSuccess() {
      if (isSelf) return sessions.end('passwordChanged')
      rereadUsers()
      toast(t('passwordSet', { username }))
      onClose()
    },
  })
  return (
    <Dialog title={t('setPasswordOf', { username })} isOpen onClose={onClose}>
      <Form onSubmit={handleSubmit((values) => change.mutate(values))}>
        {change.isError && <ErrorNotice error={change.error} />}
        <Notice tone="warn">{t(isSelf ? 'endsOwnSessions' : 'endsSessions')}</Notice>
        <PasswordField
          error={formState.errors.password?.message}
          getValue={() => getValues('password')}
          onGenerate={(password) => setValue('password', password, { shouldValidate: formState.isSubmitted })}
          {...register('password')}
        />
        <Actions>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button type="submit" look="primary" isBusy={change.isPending}>
            {t('setPassword')}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
