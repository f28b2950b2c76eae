import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../button.tsx'
import { TextField } from '../fields/field.tsx'
import { Form } from '../fields/form.tsx'
import { ErrorNotice } from '../notice.tsx'
import { Actions, Dialog } from './dialog.tsx'

interface RenameDialogProps {
  readonly title: string
  readonly label: string
  /** The name so far; undefined while nothing is being renamed. */
  readonly name: string | undefined
  readonly maxLength: number
  onClose(): void
  /** The dialog stays open, with the reason, if it fails. */
  rename(name: string): unknown
}

export function RenameDialog({ title, label, name, maxLength, onClose, rename }: RenameDialogProps) {
  const t = useTranslations('common')
  const [text, setText] = useState('')
  const task = useMutation({ mutationFn: async (changed: string) => await rename(changed), onSuccess: close })
  useEffect(() => {
    if (name !== undefined) setText(name)
  }, [name])
  function close() {
    task.reset()
    onClose()
  }
  return (
    <Dialog title={title} isOpen={name !== undefined} onClose={close}>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          task.mutate(text)
        }}
      >
        {task.isError && <ErrorNotice error={task.error} />}
        <TextField
          label={label}
          value={text}
          maxLength={maxLength}
          autoComplete="off"
          onChange={({ target }) => setText(target.value)}
        />
        <Actions>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button type="submit" look="primary" isBusy={task.isPending} disabled={text.trim() === ''}>
            {t('save')}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
