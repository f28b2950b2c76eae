import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { client } from '../../../session/gateway.ts'
import { Button } from '../../../ui/button.tsx'
import { FieldGroup, RadioField, SelectField } from '../../../ui/fields/field.tsx'
import { Form } from '../../../ui/fields/form.tsx'
import { ErrorNotice, Notice } from '../../../ui/notice.tsx'
import { Actions, Dialog } from '../../../ui/overlays/dialog.tsx'
import type { KeyDialogProps } from '../key-limits.tsx'
import { rereadKey } from '../reread-key.ts'
import { CreatedKey } from './created-key.tsx'

/** How long the old secret can still be used, in seconds. */
const OVERLAPS = { now: 0, hour: 3_600, day: 86_400, week: 604_800, month: 2_592_000 } as const
/** What is proposed where somebody else may know it, and where nobody does. */
const PROPOSED = { yes: 'now', no: 'day' } as const

/** The dialog that gives a key another secret, and then the one that shows it. */
export function RotateKey({ apiKey: { id, name, secrets }, onClose }: KeyDialogProps) {
  const t = useTranslations('keys.rotate')
  const common = useTranslations('common')
  const formats = useFormats()
  const [answer, setAnswer] = useState<keyof typeof PROPOSED>()
  const [overlap, setOverlap] = useState<keyof typeof OVERLAPS>('now')
  const rotate = useMutation({
    mutationFn: () => client.apiKeys.rotate(id, { overlap_seconds: OVERLAPS[overlap] }),
    onSuccess: () => void rereadKey(),
  })
  if (rotate.data !== undefined) return <CreatedKey created={rotate.data} onDone={onClose} />
  const [present, previous] = secrets
  const pending = present?.lastUsedAt === null ? 'spare' : 'pending'
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
          <Notice tone="warn">{t(pending, { at: formats.moment(previous.endsAt) })}</Notice>
        )}
        <FieldGroup label={t('question')}>
          {(['yes', 'no'] as const).map((value) => (
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
        </FieldGroup>
        {answer !== undefined && (
          <SelectField
            label={t('overlap')}
            hint={t(overlap === 'now' ? 'nowHint' : 'overlapHint')}
            value={overlap}
            onChange={({ target }) => setOverlap(target.value as typeof overlap)}
          >
            {(Object.keys(OVERLAPS) as (typeof overlap)[]).map((value) => (
              <option key={value} value={value}>
                {t(`overlaps.${value}`)}
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
