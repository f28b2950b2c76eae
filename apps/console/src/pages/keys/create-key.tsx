import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { CreatedApiKey } from '@trunkline/sdk'
import { useState } from 'react'
import { type UseFormReturn, useForm } from 'react-hook-form'
import { useTranslations } from 'use-intl'
import { useFormDraft } from '../../form/drafts.ts'
import { showMistakes } from '../../form/show-mistakes.ts'
import { KeyChoicesDocument, KeysDocument } from '../../generated/graphql.ts'
import { CreateApiKey } from '../../generated/validators.js'
import { client } from '../../session/gateway.ts'
import { invalidate } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { ExpiryFields } from './expiry-fields.tsx'
import { NameFields, ReachFields } from './key-fields.tsx'
import { creationOf, dayOf, type KeyValues, type NewKeyValues, newKeyValues } from './key-values.ts'
import { OwnerField, PermissionFields } from './new-key-fields.tsx'
import { CreatedKey } from './secrets/created-key.tsx'
import { useKeyResolver } from './use-key-resolver.ts'

const route = getRouteApi('/shell/keys')

/** The dialog for a new key, and then the one that shows it. */
export function CreateKey() {
  const [created, setCreated] = useState<CreatedApiKey>()
  const navigate = route.useNavigate()
  // The shown key holds on to its page; only here it has been stored.
  const close = () =>
    void navigate({ search: (old) => ({ ...old, new: undefined }), replace: true, ignoreBlocker: true })
  if (created !== undefined) return <CreatedKey created={created} onDone={close} />
  return <CreateKeyForm onClose={close} onCreated={setCreated} />
}

interface CreateKeyFormProps {
  onClose(): void
  onCreated(key: CreatedApiKey): void
}

function CreateKeyForm({ onClose, onCreated }: CreateKeyFormProps) {
  const t = useTranslations('keys.form')
  const common = useTranslations('common')
  const { userId, role } = useSession()
  const resolver = useKeyResolver<NewKeyValues>(CreateApiKey, (values) => creationOf(values, new Date()))
  const form = useForm<NewKeyValues>({
    defaultValues: newKeyValues(userId, dayOf(new Date(Date.now() + 90 * 86_400_000))),
    resolver,
  })
  useFormDraft('new key', form)
  const create = useMutation({
    mutationFn: (values: NewKeyValues) => client.apiKeys.create(creationOf(values, new Date())),
    onSuccess(key) {
      void invalidate(KeysDocument, KeyChoicesDocument)
      onCreated(key)
    },
    onError: (error) => showMistakes(error, form),
  })
  // The fields that a changed key has as well take the form as one of those alone.
  const shared = form as unknown as UseFormReturn<KeyValues>
  return (
    <Dialog title={t('create')} isOpen onClose={onClose}>
      <Form onSubmit={form.handleSubmit((values) => create.mutate(values))}>
        <NameFields form={shared} />
        <PermissionFields form={form} />
        <ExpiryFields form={shared} />
        <ReachFields form={shared} />
        {role === 'admin' && <OwnerField form={form} />}
        {create.isError && <ErrorNotice error={create.error} />}
        <Actions>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
            {t('submit')}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
