import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { CALLS_FIELDS } from '../../generated/fields.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import type { CallDetails } from './call-details.ts'
import { rangeAround } from './calls-range.ts'

/** Who called what, with the ways to the key, the agent, the owner and the conversation. */
export function CallOrigin({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls')
  const isAdmin = useSession().role === 'admin'
  const { agent, agentId, appId, deployment, conversationId } = call
  return (
    <Card title={t('call.origin')}>
      <RowFacts
        of="calls"
        fields={CALLS_FIELDS}
        row={call}
        facts={[
          'requestId',
          'kind',
          'face',
          agent === null ? [t('agent'), agentId && <code key="agent">{agentId}</code>] : 'agent',
          [t('call.app'), appId && <code key="app">{appId}</code>],
          [t('call.deployment'), deployment && <code key="deployment">{deployment}</code>],
          'model',
          'key',
          ...(isAdmin ? (['owner'] as const) : []),
          'endUser',
          [t('call.conversation'), conversationId && <ConversationLink key="conversation" call={call} />],
        ]}
      />
    </Card>
  )
}

function ConversationLink({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const search = {
    ...rangeAround(call.admittedAt),
    conversation: call.conversationId,
    agent: call.agentId,
  }
  return (
    <>
      <CodeWithCopy text={call.conversationId} />
      <Link to="/calls" search={search}>
        {t('otherCalls')}
      </Link>
    </>
  )
}
