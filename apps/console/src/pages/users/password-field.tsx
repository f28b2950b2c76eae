import { Dices, Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy/copy.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { newPassword } from './new-password.ts'
import styles from './users-page.module.css'

interface PasswordFieldProps extends ComponentProps<'input'> {
  readonly error: string | undefined
  getValue(): string
  onGenerate(password: string): void
}

/** A password for another user: typed or generated. A generated one is shown, so that it can be handed over. */
export function PasswordField({ error, getValue, onGenerate, ...input }: PasswordFieldProps) {
  const t = useTranslations('users')
  const [isShown, setShown] = useState(false)
  const [generated, setGenerated] = useState('')
  function generate() {
    const password = newPassword()
    onGenerate(password)
    setGenerated(password)
    setShown(true)
  }
  return (
    <div className={styles.password}>
      <TextField
        label={t('password')}
        hint={generated === '' ? t('passwordHint') : t('generatedHint')}
        type={isShown ? 'text' : 'password'}
        autoComplete="new-password"
        spellCheck={false}
        error={error}
        {...input}
      />
      <div className={styles.passwordButtons}>
        <IconButton
          label={t(isShown ? 'hidePassword' : 'showPassword')}
          look="plain"
          onClick={() => setShown(!isShown)}
        >
          {isShown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
        </IconButton>
        <IconButton label={t('generate')} look="plain" onClick={generate}>
          <Dices aria-hidden />
        </IconButton>
        {generated !== '' && generated === getValue() && <CopyButton text={generated} />}
      </div>
    </div>
  )
}
