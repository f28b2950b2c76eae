import { useBlocker } from '@tanstack/react-router'
import type { CreatedApiKey } from '@trunkline/sdk'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useAgentChoices } from '../../choose/use-choices.ts'
import { chatSnippets, type Snippets, uploadSnippets } from '../../snippets.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, Snippet } from '../../ui/copy/copy.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx'
import { firstTarget, type Target } from './first-target.ts'
import styles from './keys.module.css'

interface CreatedKeyProps {
  readonly created: CreatedApiKey
  onDone(): void
}

/** Shows a new key, the only time that it can be seen: neither Escape nor a press outside nor going back loses it. */
export function CreatedKey({ created, onDone }: CreatedKeyProps) {
  const t = useTranslations('keys.created')
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true })
  return (
    <Dialog title={t('title', { name: created.name })} isOpen isModalOnly isWide onClose={onDone}>
      <div className={styles.secret}>
        <Notice tone="warn">{t('once')}</Notice>
        <section className={styles.secretKey} aria-label={t('key')}>
          <code>{created.full_key}</code>
          <CopyButton text={created.full_key} label={t('copyKey')} />
        </section>
        <KeySnippets created={created} />
      </div>
      <Actions>
        <Button look="primary" onClick={onDone}>
          {t('done')}
        </Button>
      </Actions>
    </Dialog>
  )
}

function KeySnippets({ created }: { readonly created: CreatedApiKey }) {
  const t = useTranslations('keys.created')
  const [kind, setKind] = useState<keyof Snippets>('curl')
  const agents = useAgentChoices()
  const snippets: Partial<Snippets> = snippetsOf(created, firstTarget(agents, created.allowed_agents))
  const code = snippets[kind]
  if (code === undefined) return null
  return (
    <>
      <div>
        <Choices<keyof Snippets>
          label={t('use')}
          value={kind}
          options={KINDS.filter((value) => value in snippets).map((value) => ({
            value,
            label: t(`kinds.${value}`),
          }))}
          onChange={setKind}
        />
      </div>
      <Snippet code={code} label={t(`kinds.${kind}`)} />
      <p className={styles.hint}>{kind === 'curl' ? t('shell') : t('node', { name: PACKAGES[kind] })}</p>
    </>
  )
}

const KINDS = ['curl', 'sdk', 'openai'] as const
const PACKAGES = { sdk: '@trunkline/sdk', openai: 'openai' } as const

/** Nothing until the agents are known, or where the key may call none that is configured. */
function snippetsOf({ permissions, full_key }: CreatedApiKey, target: Target | undefined): Partial<Snippets> {
  const key = { baseURL: location.origin, apiKey: full_key }
  const mayChat = permissions.includes('chat') || permissions.includes('admin')
  if (!mayChat) return uploadSnippets(key)
  if (target === undefined) return {}
  return chatSnippets({ ...key, ...target, query: 'Hello! Who are you?', files: [], detail: false })
}
