import type { PauseField } from '@trunkline/sdk'
import { Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useSession } from '../../../session/use-session.ts'
import { Button } from '../../../ui/button.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/fields/field.tsx'
import { ErrorNotice } from '../../../ui/notice.tsx'
import { keyOf } from '../chats/open-chats.ts'
import { uploadFile } from '../composer/upload-file.ts'
import styles from './pause.module.css'

interface PauseFieldProps {
  readonly field: PauseField
  readonly agent: string
  readonly value: string | boolean
  readonly disabled: boolean
  /** What the gateway has said of the value. */
  readonly error: string | undefined
  /** Takes a value, or what makes one of the latest. */
  onChange(value: string | boolean | ((before: string) => string)): void
}

/** One field of the form that an agent shows. */
export function PauseFieldControl(props: PauseFieldProps) {
  const { field, value, disabled, error, onChange } = props
  const t = useTranslations('playground.pause')
  const label = field.label ?? field.name
  const shared = {
    label: field.required ? label : `${label} (${t('optional')})`,
    disabled,
    error,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value),
  }
  const text = String(value)
  switch (field.type) {
    case 'checkbox':
      return (
        <CheckField
          label={label}
          hint={error}
          disabled={disabled}
          checked={value === true}
          onChange={({ target }) => onChange(target.checked)}
        />
      )
    case 'select':
      return (
        <SelectField {...shared} value={text}>
          <option value="">{t('choose')}</option>
          {field.options?.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </SelectField>
      )
    case 'paragraph':
      return <TextArea {...shared} value={text} rows={3} />
    case 'number':
      return <TextField {...shared} value={text} inputMode="decimal" />
    case 'file':
      return (
        <div className={styles.file}>
          <TextField {...shared} value={text} hint={t('url')} inputMode="url" />
          <UploadButton {...props} label={label} onUpload={(url) => onChange(url)} />
        </div>
      )
    case 'file-list':
      return (
        <div className={styles.file}>
          <TextArea {...shared} value={text} hint={t('urls')} rows={2} />
          <UploadButton
            {...props}
            label={label}
            onUpload={(url) => onChange((before) => (before.trim() === '' ? url : `${before}\n${url}`))}
          />
        </div>
      )
    default:
      return <TextField {...shared} value={text} />
  }
}

interface UploadButtonProps extends Pick<PauseFieldProps, 'agent' | 'disabled'> {
  readonly label: string
  onUpload(url: string): void
}

function UploadButton({ agent, label, disabled, onUpload }: UploadButtonProps) {
  const t = useTranslations('playground.pause')
  const { username } = useSession()
  const input = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  async function upload(file: File) {
    setBusy(true)
    setError(undefined)
    try {
      onUpload((await uploadFile(file, { key: keyOf(agent), agent, createdBy: username })).url)
    } catch (failure) {
      setError(failure)
    }
    setBusy(false)
  }
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t('upload', { name: label })}
        onChange={({ target }) => {
          const [file] = target.files ?? []
          if (file !== undefined) void upload(file)
          // The same file may be chosen again.
          target.value = ''
        }}
      />
      <Button isBusy={isBusy} disabled={disabled} onClick={() => input.current?.click()}>
        <Upload aria-hidden />
        {t('upload', { name: label })}
      </Button>
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  )
}
