import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Card } from '../../../ui/card.tsx'
import { CodeWithCopy } from '../../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { lowerCase } from '../user-record.ts'
import type { UserDetails } from './user-details.ts'

/** Who the user is. */
export function UserFacts({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const { moment } = useFormats()
  const { id, role, status, createdAt, lastLogin } = user
  return (
    <Card
      title={t('page.who')}
      aside={<Badge tone={status === 'ACTIVE' ? 'ok' : 'danger'}>{t(`statuses.${lowerCase(status)}`)}</Badge>}
    >
      <Facts
        facts={[
          [t('role'), common(`roles.${lowerCase(role)}`)],
          [t('page.id'), <CodeWithCopy key="id" text={id} />],
          [t('page.created'), moment(createdAt)],
          [t('lastLogin'), lastLogin === null ? t('neverLoggedIn') : moment(lastLogin)],
        ]}
      />
    </Card>
  )
}
