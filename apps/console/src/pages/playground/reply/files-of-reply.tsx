import type { ReplyFile } from '@trunkline/sdk'
import { FileText } from 'lucide-react'
import { useTranslations } from 'use-intl'
import styles from '../turns/turn.module.css'
import { Picture } from './picture.tsx'
import { filesBesideText, isOwnFile } from './reply-files.ts'

interface FilesOfReplyProps {
  readonly files: readonly ReplyFile[]
  readonly text: string
}

/** The files that the agent has made and that its text does not show. */
export function FilesOfReply({ files, text }: FilesOfReplyProps) {
  const t = useTranslations('playground')
  const shown = filesBesideText(files, text)
  if (shown.length === 0) return null
  return (
    <ul className={styles.files} aria-label={t('madeFiles')}>
      {shown.map(({ url, type, name }) => (
        <li key={url}>
          {type === 'image' && isOwnFile(url, location.origin) ? (
            <Picture url={url} name={name} />
          ) : (
            <FileLink url={url} name={name} />
          )}
        </li>
      ))}
    </ul>
  )
}

export function FileLink({ url, name }: { readonly url: string; readonly name: string }) {
  return (
    <>
      <FileText aria-hidden />
      <a href={url} title={url} target="_blank" rel="noopener noreferrer">
        {name}
      </a>
    </>
  )
}
