import type { UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { SelectField, TextField } from '../../ui/fields/field.tsx'
import { FieldPair } from '../../ui/fields/form.tsx'
import { dayOf, type KeyValues, LIFETIMES_DAYS } from './key-values.ts'

interface ExpiryFieldsProps {
  readonly form: UseFormReturn<KeyValues>
  /** The expiry that the key has already and may keep. */
  readonly current?: string
}

/** When a key expires: after a number of days, or with a day. */
export function ExpiryFields({ form, current }: ExpiryFieldsProps) {
  const t = useTranslations('keys.form')
  const formats = useFormats()
  const { register, watch, formState } = form
  const isDate = watch('lifetime') === 'date'
  return (
    <FieldPair>
      <SelectField
        label={t('expiry')}
        error={isDate ? undefined : formState.errors.expires_at?.message}
        {...register('lifetime')}
      >
        {current !== undefined && (
          <option value="kept">{t('keptExpiry', { at: formats.moment(current) })}</option>
        )}
        {LIFETIMES_DAYS.map((days) => (
          <option key={days} value={days}>
            {t('days', { days })}
          </option>
        ))}
        <option value="date">{t('onDate')}</option>
      </SelectField>
      {isDate && (
        <TextField
          label={t('date')}
          type="date"
          min={dayOf(new Date())}
          error={formState.errors.expires_at?.message}
          {...register('expires_at')}
        />
      )}
    </FieldPair>
  )
}
