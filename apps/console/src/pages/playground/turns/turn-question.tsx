import { Pencil, UserRound } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../../../ui/button.tsx'
import type { Turn } from '../chats/turn.ts'
import { FileLink } from '../reply/files-of-reply.tsx'
import { QuestionEditor } from './question-editor.tsx'
import styles from './turn.module.css'

interface TurnQuestionProps {
  readonly turn: Turn
  readonly mayEdit: boolean
  onEdit(query: string): void
}

/** The message of the user, which can be edited and sent again. */
export function TurnQuestion({ turn, mayEdit, onEdit }: TurnQuestionProps) {
  const t = useTranslations('playground')
  const [isEdited, setEdited] = useState(false)
  return (
    <div className={styles.message}>
      <span className={styles.who}>
        <UserRound aria-hidden />
        <strong>{t('you')}</strong>
        {/* An answer belongs to the question before it, and no other chat has that. */}
        {!isEdited && turn.answer === undefined && (
          <IconButton
            className={styles.edit}
            label={t('edit')}
            disabled={!mayEdit}
            onClick={() => setEdited(true)}
          >
            <Pencil aria-hidden />
          </IconButton>
        )}
      </span>
      {isEdited ? (
        <QuestionEditor
          query={turn.query}
          maySend={mayEdit}
          onCancel={() => setEdited(false)}
          onSend={(query) => {
            setEdited(false)
            onEdit(query)
          }}
        />
      ) : (
        <p className={styles.text}>{turn.answer?.cancel === true ? t('pause.gaveUp') : turn.query}</p>
      )}
      {turn.files.length > 0 && (
        <ul className={styles.files} aria-label={t('files')}>
          {turn.files.map((file) => (
            <li key={file.id}>
              <FileLink {...file} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
