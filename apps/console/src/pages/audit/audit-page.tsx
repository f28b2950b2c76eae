import { getRouteApi } from '@tanstack/react-router'
import { AUDIT } from '../../generated/conditions.ts'
import { AuditEventsDocument, AuditTotalDocument } from '../../generated/graphql.ts'
import { ForAdmins, ListPage, useAddress } from '../../lists/list-page.tsx'
import { QueriedList } from '../../lists/paged-list.tsx'
import { client } from '../../session/gateway.ts'
import { AUDIT_RANGE } from './audit-search.ts'
import { AuditTable } from './audit-table.tsx'
import { useWords } from './words.ts'

const route = getRouteApi('/shell/audit')

/** The audit log: who changed what, and who logged in. Only administrators see it. */
export function AuditPage() {
  const words = useWords()
  const [search, onChange] = useAddress(route)
  return (
    <ForAdmins of="audit">
      <ListPage
        of="audit"
        conditions={AUDIT}
        range={AUDIT_RANGE}
        {...{ search, onChange }}
        usual={{
          operation: { options: words.operations, textOf: words.operation },
          result: {},
          user: {},
          key: {},
          target: { options: words.targets, textOf: words.target },
          targetId: {},
          requestId: {},
        }}
        // With its states as they are hashed.
        csv={(parameters) => client.audit.csv(parameters)}
      >
        {(filter) => (
          <QueriedList
            of="audit"
            document={AuditEventsDocument}
            total={AuditTotalDocument}
            filter={{ filter }}
          >
            {(events) => <AuditTable events={events} />}
          </QueriedList>
        )}
      </ListPage>
    </ForAdmins>
  )
}
