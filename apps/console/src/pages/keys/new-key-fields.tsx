import type { UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useUserChoices } from '../../choose/use-choices.ts'
import { useSession } from '../../session/use-session.ts'
import { CheckField, FieldGroup, SelectField } from '../../ui/fields/field.tsx'
import type { NewKeyValues } from './key-values.ts'
import styles from './keys.module.css'

interface FieldsProps {
  readonly form: UseFormReturn<NewKeyValues>
}

/** Only administrators may grant the permission `admin`. */
export function PermissionFields({ form }: FieldsProps) {
  const t = useTranslations('keys')
  const { role } = useSession()
  const { register, formState } = form
  const error: { message?: string | undefined } | undefined = formState.errors.permissions
  const permissions =
    role === 'admin' ? (['chat', 'upload', 'admin'] as const) : (['chat', 'upload'] as const)
  return (
    <FieldGroup label={t('permissions')} error={error?.message}>
      <div className={styles.options}>
        {permissions.map((permission) => (
          <CheckField
            key={permission}
            label={t(`permission.${permission}`)}
            hint={t(`permissionHints.${permission}`)}
            value={permission}
            {...register('permissions')}
          />
        ))}
      </div>
    </FieldGroup>
  )
}

/** Administrators may make keys for other users. */
export function OwnerField({ form }: FieldsProps) {
  const t = useTranslations('keys.form')
  const { userId, username } = useSession()
  const others = useUserChoices().filter(({ id }) => id !== userId)
  return (
    <SelectField
      label={t('owner')}
      hint={t('ownerHint')}
      error={form.formState.errors.owner_id?.message}
      {...form.register('owner_id')}
    >
      <option value={userId}>{t('myself', { username })}</option>
      {others.map((user) => (
        <option key={user.id} value={user.id}>
          {user.username}
        </option>
      ))}
    </SelectField>
  )
}
