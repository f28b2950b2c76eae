import { useBlocker } from '@tanstack/react-router'
import type { CreatedApiKey } from '@trunkline/sdk'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Actions, Dialog } from '../../../ui/overlays/dialog.tsx'
import { KeyCode } from '../key-code.tsx'
import styles from '../keys.module.css'

interface CreatedKeyProps {
  readonly created: CreatedApiKey
  onDone(): void
}

/** Shows a new key or its new secret, the only time that it can be seen: neither Escape nor a press outside nor going back loses it. */
export function CreatedKey({ created, onDone }: CreatedKeyProps) {
  const t = useTranslations('keys.created')
  const title = t(created.rotated_at === null ? 'title' : 'rotated', { name: created.name })
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true })
  return (
    <Dialog title={title} isOpen isModalOnly isWide onClose={onDone}>
      <div className={styles.secret}>
        <Notice tone="warn">{t('once')}</Notice>
        <section className={styles.secretKey} aria-label={t('key')}>
          <code>{created.full_key}</code>
          <CopyButton text={created.full_key} label={t('copyKey')} />
        </section>
        <KeyCode
          permissions={created.permissions}
          allowedAgents={created.allowed_agents}
          secret={created.full_key}
        />
      </div>
      <Actions>
        <Button look="primary" onClick={onDone}>
          {t('done')}
        </Button>
      </Actions>
    </Dialog>
  )
}
