import { useMutation } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useFormDraft } from '../../form/drafts.ts'
import { showMistakes } from '../../form/show-mistakes.ts'
import type { KeyFieldsFragment } from '../../generated/graphql.ts'
import { UpdateApiKey } from '../../generated/validators.js'
import { client } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { ExpiryFields } from './expiry-fields.tsx'
import { NameFields, ReachFields } from './key-fields.tsx'
import { type KeyValues, updateOf, valuesOf } from './key-values.ts'
import { rereadKey } from './reread-key.ts'
import { useKeyResolver } from './use-key-resolver.ts'

interface EditKeyProps {
  readonly apiKey: KeyFieldsFragment
  onClose(): void
}

/** The dialog that changes a key. Permissions and owner are those of its creation. */
export function EditKey({ apiKey, onClose }: EditKeyProps) {
  const t = useTranslations('keys.form')
  const common = useTranslations('common')
  const toast = useToast()
  const resolver = useKeyResolver<KeyValues>(UpdateApiKey, (values) => updateOf(values, new Date()))
  const form = useForm<KeyValues>({ defaultValues: valuesOf(apiKey), resolver })
  useFormDraft(`key ${apiKey.id}`, form)
  const change = useMutation({
    mutationFn: (values: KeyValues) => client.apiKeys.update(apiKey.id, updateOf(values, new Date())),
    async onSuccess() {
      await rereadKey()
      toast(t('saved'))
      onClose()
    },
    onError: (error) => showMistakes(error, form),
  })
  return (
    <Dialog title={t('edit', { name: apiKey.name })} isOpen onClose={onClose}>
      <Form onSubmit={form.handleSubmit((values) => change.mutate(values))}>
        <NameFields form={form} />
        <ExpiryFields form={form} current={apiKey.expiresAt} />
        <ReachFields form={form} />
        {change.isError && <ErrorNotice error={change.error} />}
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
