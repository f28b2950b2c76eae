import { FileText, X } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { IconButton } from '../../../ui/button.tsx'
import { ErrorNotice } from '../../../ui/notice.tsx'
import styles from './composer.module.css'
import type { Attachment, Attachments } from './use-attachments.ts'

/** The files of the next message, with what is wrong with them. */
export function AttachmentList({ attachments }: { readonly attachments: Attachments }) {
  const t = useTranslations('playground')
  const { list, remove } = attachments
  if (list.length === 0) return null
  return (
    <ul className={styles.files} aria-label={t('files')}>
      {list.map((attachment) => (
        <FileRow key={attachment.number} attachment={attachment} onRemove={() => remove(attachment)} />
      ))}
    </ul>
  )
}

function FileRow({ attachment, onRemove }: { readonly attachment: Attachment; onRemove(): void }) {
  const t = useTranslations('playground')
  const formats = useFormats()
  const { name, size, progress, upload, error } = attachment
  return (
    <li>
      <div className={styles.file}>
        <FileText aria-hidden />
        <span className={styles.fileName}>{name}</span>
        {size !== undefined && <span className={styles.hint}>{formats.bytes(size)}</span>}
        {upload === undefined && error === undefined && (
          <progress value={progress} max={1} aria-label={t('uploading', { name })} />
        )}
        <IconButton label={t('removeFile', { name })} onClick={onRemove}>
          <X aria-hidden />
        </IconButton>
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
    </li>
  )
}
