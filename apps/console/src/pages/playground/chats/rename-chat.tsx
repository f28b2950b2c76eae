import { type FormEvent, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/fields/field.tsx'
import { Actions, Dialog } from '../../../ui/overlays/dialog.tsx'
import styles from './chat-list.module.css'
import type { ChatRecord } from './chat-store.ts'
import type { ChatsOfUser } from './chats-of-user.ts'

interface RenameChatProps {
  readonly chats: ChatsOfUser
  /** Undefined while no chat is being renamed. */
  readonly record: ChatRecord | undefined
  onClose(): void
}

export function RenameChat({ chats, record, onClose }: RenameChatProps) {
  const t = useTranslations('playground.chats')
  const common = useTranslations('common')
  const [title, setTitle] = useState('')
  useEffect(() => {
    if (record !== undefined) setTitle(record.title)
  }, [record])
  function save(event: FormEvent) {
    event.preventDefault()
    if (record !== undefined) chats.rename(record.id, title)
    onClose()
  }
  return (
    <Dialog title={t('rename')} isOpen={record !== undefined} onClose={onClose}>
      <form className={styles.form} onSubmit={save}>
        <TextField
          label={t('name')}
          value={title}
          maxLength={80}
          autoComplete="off"
          onChange={({ target }) => setTitle(target.value)}
        />
        <Actions>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button type="submit" look="primary" disabled={title.trim() === ''}>
            {common('save')}
          </Button>
        </Actions>
      </form>
    </Dialog>
  )
}
