import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { RowFacts } from '../../lists/row-facts.tsx'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
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

/**
 * The process that served the call and the trace in which it did, by which its log lines and spans are found. Only
 * administrators see it.
 */
export function CallProcess({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const { instance, instanceId, traceId, outcome } = call
  const untraced = outcome === null ? null : t('notTraced')
  return (
    <Card
      title={t('process')}
      aside={
        instanceId !== null && (
          <Link to="/processes" search={{ id: instanceId }}>
            {t('toProcess')}
          </Link>
        )
      }
    >
      <Facts
        facts={[
          [t('processId'), instanceId === null ? null : <CodeWithCopy key="id" text={instanceId} />],
          [t('processHost'), instance?.host],
          [t('processPid'), instance?.pid],
          [t('processVersion'), instance?.version],
          [t('traceId'), traceId === null ? untraced : <CodeWithCopy key="trace" text={traceId} />],
        ]}
      />
    </Card>
  )
}
