import { useMutation } from '@tanstack/react-query'
import { type CreateUser as CreateUserBody, TrunklineError } from '@trunkline/sdk'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useContractResolver } from '../../form/contract-resolver.ts'
import { useFormDraft } from '../../form/drafts.ts'
import { isShownAtFields, showMistakes } from '../../form/show-mistakes.ts'
import { CreateUser } from '../../generated/validators.js'
import { client } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice, useErrorText } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { PasswordField } from './password-field.tsx'
import { RoleAndQuota, type RoleAndQuotaValues } from './role-and-quota.tsx'
import { rereadUsers } from './user-record.ts'

interface Values extends RoleAndQuotaValues {
  readonly username: string
  readonly password: string
}

/** What is left empty is left out, so that the gateway's defaults apply and a missing field is called missing. */
function toBody({ username, password, role, max_api_calls, quota_period }: Values) {
  return {
    ...(username.trim() !== '' && { username: username.trim() }),
    ...(password !== '' && { password }),
    role,
    ...(max_api_calls !== '' && { max_api_calls: Number(max_api_calls) }),
    quota_period,
  }
}

export function CreateUserDialog({ onClose }: { onClose(): void }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const toast = useToast()
  const describe = useErrorText()
  const form = useForm<Values>({
    defaultValues: { username: '', password: '', role: 'premium', max_api_calls: '', quota_period: 'none' },
    resolver: useContractResolver<Values>(CreateUser, toBody),
  })
  const { register, handleSubmit, formState, setError, setValue, getValues } = form
  useFormDraft('new user', form)
  const create = useMutation({
    mutationFn: (values: Values) => client.users.create(toBody(values) as CreateUserBody),
    onSuccess({ username }) {
      rereadUsers()
      toast(t('created', { username }))
      onClose()
    },
    onError(error) {
      if (isTaken(error)) setError('username', { message: describe(error) }, { shouldFocus: true })
      else showMistakes(error, form)
    },
  })
  const { errors } = formState
  const isUntold = create.isError && !isTaken(create.error) && !isShownAtFields(create.error, form)
  return (
    <Dialog title={t('create')} isOpen onClose={onClose}>
      <Form onSubmit={handleSubmit((values) => create.mutate(values))}>
        {isUntold && <ErrorNotice error={create.error} />}
        <TextField
          label={t('username')}
          hint={t('usernameHint')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          error={errors.username?.message}
          {...register('username')}
        />
        <PasswordField
          error={errors.password?.message}
          getValue={() => getValues('password')}
          onGenerate={(password) => setValue('password', password, { shouldValidate: formState.isSubmitted })}
          {...register('password')}
        />
        <RoleAndQuota register={register} errors={errors} quotaHint={t('maxCallsHint')} />
        <Actions>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            {t('create')}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

const isTaken = (error: unknown) => error instanceof TrunklineError && error.reason === 'username_taken'
