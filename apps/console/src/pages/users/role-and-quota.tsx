import type { FieldErrors, UseFormRegister } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { SelectField, TextField } from '../../ui/fields/field.tsx'
import { FieldPair } from '../../ui/fields/form.tsx'
import { PERIODS, ROLES } from './user-record.ts'

export interface RoleAndQuotaValues {
  readonly role: (typeof ROLES)[number]
  /** The text of a number; a form for a new user may leave it empty. */
  readonly max_api_calls: string
  readonly quota_period: (typeof PERIODS)[number]
}

interface RoleAndQuotaProps<Values extends RoleAndQuotaValues> {
  readonly register: UseFormRegister<Values>
  readonly errors: FieldErrors<Values>
  readonly quotaHint?: string
}

/** The fields for what a user may do, and how often. */
export function RoleAndQuota<Values extends RoleAndQuotaValues>(form: RoleAndQuotaProps<Values>) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  // The fields of this component are among those of every form that has it, which TypeScript cannot derive.
  const { register, errors, quotaHint } = form as unknown as RoleAndQuotaProps<RoleAndQuotaValues>
  return (
    <>
      <SelectField label={t('role')} hint={t('roleHint')} error={errors.role?.message} {...register('role')}>
        {ROLES.map((role) => (
          <option key={role} value={role}>
            {common(`roles.${role}`)}
          </option>
        ))}
      </SelectField>
      <FieldPair>
        <TextField
          label={t('maxCalls')}
          hint={quotaHint}
          type="number"
          min={0}
          inputMode="numeric"
          error={errors.max_api_calls?.message}
          {...register('max_api_calls')}
        />
        <SelectField label={t('period')} error={errors.quota_period?.message} {...register('quota_period')}>
          {PERIODS.map((period) => (
            <option key={period} value={period}>
              {t(`periods.${period}`)}
            </option>
          ))}
        </SelectField>
      </FieldPair>
    </>
  )
}
