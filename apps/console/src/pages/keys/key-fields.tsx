import { Controller, type UseFormReturn } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { FieldGroup, RadioField, TextArea, TextField } from '../../ui/fields/field.tsx'
import { FieldPair } from '../../ui/fields/form.tsx'
import { AgentPicker } from './agent-picker.tsx'
import type { KeyValues } from './key-values.ts'
import styles from './keys.module.css'

/** Name and description, which a new key and a changed one have in common. */
export function NameFields({ form }: { readonly form: UseFormReturn<KeyValues> }) {
  const t = useTranslations('keys')
  const { register, formState } = form
  return (
    <>
      <TextField
        label={t('name')}
        hint={t('form.nameHint')}
        autoComplete="off"
        error={formState.errors.name?.message}
        {...register('name')}
      />
      <TextArea
        label={t('form.description')}
        rows={2}
        error={formState.errors.description?.message}
        {...register('description')}
      />
    </>
  )
}

/** The contract checks both limits as one property. */
type ReachErrors = Partial<Record<'allowed_agents' | 'limits', { message?: string | undefined }>>

/** Which agents the key may call, from where, and how often. */
export function ReachFields({ form }: { readonly form: UseFormReturn<KeyValues> }) {
  const t = useTranslations('keys.form')
  const { role } = useSession()
  const { register, watch, control, formState } = form
  const { allowed_agents: agentsError, limits: limitsError }: ReachErrors = formState.errors
  return (
    <>
      <FieldGroup label={t('agents')} error={agentsError?.message}>
        <div className={styles.options}>
          <RadioField label={t('allAgents')} value="all" {...register('agents')} />
          <RadioField label={t('someAgents')} value="some" {...register('agents')} />
          {watch('agents') === 'some' && (
            <Controller
              control={control}
              name="allowed_agents"
              render={({ field }) => <AgentPicker value={field.value} onChange={field.onChange} />}
            />
          )}
        </div>
      </FieldGroup>
      <TextArea
        label={t('addresses')}
        hint={t('addressesHint')}
        rows={2}
        spellCheck={false}
        error={formState.errors.allowed_addresses?.message}
        {...register('allowed_addresses')}
      />
      <FieldGroup label={t('limits')} error={limitsError?.message}>
        <p className={styles.hint}>{t(role === 'admin' ? 'limitsHintAdmin' : 'limitsHint')}</p>
        <FieldPair>
          <TextField label={t('chatPerMinute')} type="number" min={1} {...register('chat_per_minute')} />
          <TextField label={t('uploadPerMinute')} type="number" min={1} {...register('upload_per_minute')} />
        </FieldPair>
      </FieldGroup>
    </>
  )
}
