import { useMutation } from '@tanstack/react-query'
import { TrunklineError, type UpdateUser as UpdateUserBody } from '@trunkline/sdk'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useContractResolver } from '../../form/contract-resolver.ts'
import { useFormDraft } from '../../form/drafts.ts'
import { isShownAtFields, showMistakes } from '../../form/show-mistakes.ts'
import { UpdateUser } from '../../generated/validators.js'
import { client } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice, useErrorText } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { RoleAndQuota, type RoleAndQuotaValues } from './role-and-quota.tsx'
import { lowerCase, rereadUsers, type UserRecord } from './user-record.ts'

/** An emptied number becomes no number, which the schema refuses. */
const toBody = ({ max_api_calls, ...values }: RoleAndQuotaValues) => ({
  ...values,
  max_api_calls: max_api_calls === '' ? Number.NaN : Number(max_api_calls),
})

/** Changes a user's role and quota. */
export function EditUserDialog({ user, onClose }: { readonly user: UserRecord; onClose(): void }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const toast = useToast()
  const describe = useErrorText()
  const { username } = user
  const form = useForm<RoleAndQuotaValues>({
    defaultValues: {
      role: lowerCase(user.role),
      max_api_calls: String(user.maxApiCalls),
      quota_period: lowerCase(user.quotaPeriod),
    },
    resolver: useContractResolver<RoleAndQuotaValues>(UpdateUser, toBody),
  })
  const { register, handleSubmit, formState, setError } = form
  useFormDraft(`user ${user.id}`, form)
  const change = useMutation({
    mutationFn: (values: RoleAndQuotaValues) =>
      client.users.update(user.id, toBody(values) as UpdateUserBody),
    onSuccess() {
      rereadUsers()
      toast(t('changed', { username }))
      onClose()
    },
    onError(error) {
      if (isLastAdmin(error)) setError('role', { message: describe(error) }, { shouldFocus: true })
      else showMistakes(error, form)
    },
  })
  const { errors } = formState
  return (
    <Dialog title={t('editUser', { username })} isOpen onClose={onClose}>
      <Form onSubmit={handleSubmit((values) => change.mutate(values))}>
        {change.isError && !isLastAdmin(change.error) && !isShownAtFields(change.error, form) && (
          <ErrorNotice error={change.error} />
        )}
        <RoleAndQuota register={register} errors={errors} />
        <Actions>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button type="submit" look="primary" isBusy={change.isPending}>
            {common('save')}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}

const isLastAdmin = (error: unknown) => error instanceof TrunklineError && error.reason === 'last_admin'
