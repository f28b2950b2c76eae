import { useMutation } from '@tanstack/react-query'
import type { CreatedApiKey } from '@trunkline/sdk'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { client } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { FieldGroup, RadioField, SelectField } from '../../ui/fields/field.tsx'
import { Form } from '../../ui/fields/form.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { CreatedKey } from './created-key.tsx'
import type { KeyDetails } from './key-limits.tsx'
import styles from './keys.module.css'
import { rereadKey } from './reread-key.ts'

interface RotateKeyProps {
  readonly apiKey: KeyDetails
  onClose(): void
}

/** The dialog that gives a key another secret, and then the one that shows it. */
export function RotateKey({ apiKey, onClose }: RotateKeyProps) {
  const [rotated, setRotated] = useState<CreatedApiKey>()
  if (rotated !== undefined) return <CreatedKey created={rotated} onDone={onClose} />
  return <RotateKeyForm {...{ apiKey, onClose }} onRotated={setRotated} />
}

/** How long the secret before can still be used, in seconds, and what is proposed for one that is known to nobody else. */
const OVERLAPS = { now: 0, hour: 3_600, day: 86_400, week: 604_800, month: 2_592_000 } as const
type Overlap = keyof typeof OVERLAPS
const PROPOSED = { yes: 'now', no: 'day' } as const
const ANSWERS = ['yes', 'no'] as const

function RotateKeyForm({
  apiKey: { id, name, secrets },
  onClose,
  onRotated,
}: RotateKeyProps & { onRotated(key: CreatedApiKey): void }) {
  const t = useTranslations('keys.rotate')
  const common = useTranslations('common')
  const formats = useFormats()
  const [answer, setAnswer] = useState<keyof typeof PROPOSED>()
  const [overlap, setOverlap] = useState<Overlap>('now')
  const rotate = useMutation({
    mutationFn: () => client.apiKeys.rotate(id, { overlap_seconds: OVERLAPS[overlap] }),
    onSuccess(key) {
      void rereadKey()
      onRotated(key)
    },
  })
  const [present, previous] = secrets
  const isSpare = present?.lastUsedAt === null
  return (
    <Dialog title={t('title', { name })} isOpen onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          rotate.mutate()
        }}
      >
        <p>{t('hint')}</p>
        {previous?.endsAt && (
          <Notice tone="warn">
            {t(isSpare ? 'spare' : 'pending', { at: formats.moment(previous.endsAt) })}
          </Notice>
        )}
        <FieldGroup label={t('question')}>
          <div className={styles.options}>
            {ANSWERS.map((value) => (
              <RadioField
                key={value}
                name="answer"
                label={t(`answers.${value}`)}
                checked={answer === value}
                onChange={() => {
                  setAnswer(value)
                  setOverlap(PROPOSED[value])
                }}
              />
            ))}
          </div>
        </FieldGroup>
        {answer !== undefined && (
          <SelectField
            label={t('overlap')}
            hint={t(overlap === 'now' ? 'nowHint' : 'overlapHint')}
            value={overlap}
            onChange={({ target }) => setOverlap(target.value as Overlap)}
          >
            {Object.keys(OVERLAPS).map((value) => (
              <option key={value} value={value}>
                {t(`overlaps.${value as Overlap}`)}
              </option>
            ))}
          </SelectField>
        )}
        {rotate.isError && <ErrorNotice error={rotate.error} />}
        <Actions>
          <Button onClick={onClose}>{common('cancel')}</Button>
          <Button type="submit" look="primary" disabled={answer === undefined} isBusy={rotate.isPending}>
            {t('submit')}
          </Button>
        </Actions>
      </Form>
    </Dialog>
  )
}
