import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { preloadCharts } from '../../charts/use-plot.ts'
import { KEY_PLACEHOLDER } from '../../code/snippets.ts'
import { useFormats } from '../../format/use-formats.ts'
import { KeyDocument, type KeyFieldsFragment } from '../../generated/graphql.ts'
import { client } from '../../session/gateway.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Cards } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { Page } from '../../ui/page.tsx'
import { UnreadPage } from '../../ui/unread-page.tsx'
import { EditKey } from './edit-key.tsx'
import { KeyCode } from './key-code.tsx'
import { KeyFacts } from './key-facts.tsx'
import type { KeyDetails } from './key-limits.tsx'
import { KeyUse } from './key-use.tsx'
import styles from './keys.module.css'
import { PauseKey } from './pause-key.tsx'
import { rereadKey } from './reread-key.ts'
import { KeySecrets } from './secrets/key-secrets.tsx'
import { RotateKey } from './secrets/rotate-key.tsx'
import { mayChange, mayRevoke, mayRotate } from './state/key-state.ts'

preloadCharts()

const route = getRouteApi('/shell/keys/$id')

/** One API key: what it may do, how it is used, and its changes. */
export function KeyPage() {
  const t = useTranslations('keys')
  const { id } = route.useParams()
  const query = useQuery(graphqlQuery(KeyDocument, { id }))
  const apiKey = query.data?.apiKey
  return apiKey == null ? <UnreadPage title={t('key.about')} query={query} /> : <LoadedKey apiKey={apiKey} />
}

function LoadedKey({ apiKey }: { readonly apiKey: KeyDetails }) {
  const t = useTranslations('keys.key')
  const code = useTranslations('keys.code')
  const session = useSession()
  const pause = useTranslations('keys.pause')
  const rotate = useTranslations('keys.rotate')
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'pause' | 'revoke'>()
  const isMine = mayChange(apiKey, session)
  const isRevoked = apiKey.state === 'REVOKED'
  const isLive = !isRevoked && apiKey.state !== 'EXPIRED'
  const close = () => setDialog(undefined)
  return (
    <Page
      title={apiKey.name}
      lead={apiKey.description}
      actions={
        <>
          {isMine && <Button onClick={() => setDialog('edit')}>{t('change')}</Button>}
          {mayRotate(apiKey, session) && isLive && (
            <Button onClick={() => setDialog('rotate')}>{rotate('rotate')}</Button>
          )}
          {isMine && isLive && (
            <Button onClick={() => setDialog('pause')}>
              {pause(apiKey.pausedAt === null ? 'pause' : 'resume')}
            </Button>
          )}
          {mayRevoke(apiKey, session) && !isRevoked && (
            <Button look="danger" onClick={() => setDialog('revoke')}>
              {t('revoke')}
            </Button>
          )}
        </>
      }
    >
      {!isMine && <Notice tone="info">{t('notYours')}</Notice>}
      {isLive && <KeySecrets apiKey={apiKey} mayEnd={mayRevoke(apiKey, session)} />}
      <Cards>
        <KeyFacts apiKey={apiKey} />
        <KeyUse apiKey={apiKey} mayReset={isMine} />
      </Cards>
      {!isRevoked && (
        <Card title={code('title')}>
          <KeyCode
            permissions={apiKey.permissions.map((name) => name.toLowerCase())}
            allowedAgents={apiKey.allowedAgents}
            secret={KEY_PLACEHOLDER}
          />
          <p className={styles.hint}>{code('placeholder')}</p>
        </Card>
      )}
      {dialog === 'edit' && <EditKey apiKey={apiKey} onClose={close} />}
      {dialog === 'rotate' && <RotateKey apiKey={apiKey} onClose={close} />}
      {dialog === 'pause' && <PauseKey apiKey={apiKey} onClose={close} />}
      <RevokeKey apiKey={apiKey} isOpen={dialog === 'revoke'} onClose={close} />
    </Page>
  )
}

interface RevokeKeyProps {
  readonly apiKey: KeyFieldsFragment
  readonly isOpen: boolean
  onClose(): void
}

/** Asks before a key is revoked, and says what that stops. */
function RevokeKey({ apiKey, isOpen, onClose }: RevokeKeyProps) {
  const t = useTranslations('keys.key')
  const list = useTranslations('keys')
  const formats = useFormats()
  const toast = useToast()
  const { callsToday, lastUsedAt } = apiKey.usage
  return (
    <Confirm
      title={t('revokeTitle', { name: apiKey.name })}
      action={t('revoke')}
      isOpen={isOpen}
      onClose={onClose}
      run={async () => {
        await client.apiKeys.revoke(apiKey.id)
        await rereadKey()
        toast(t('revoked'))
      }}
    >
      <p>{t('revokeHint')}</p>
      <p>
        {t('revokeUse', {
          count: callsToday,
          at: lastUsedAt === null ? list('never') : formats.moment(lastUsedAt),
        })}
      </p>
    </Confirm>
  )
}
