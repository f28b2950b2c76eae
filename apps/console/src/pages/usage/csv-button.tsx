import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { client } from '../../session/gateway.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { groupsOf, rangeOf } from './usage-search.ts'
import { useUsageSearch } from './use-usage-search.ts'

/** Saves the report as the gateway writes it: every bucket of every group, and all of its numbers. */
export function CsvButton() {
  const t = useTranslations('usage')
  const { search } = useUsageSearch()
  const save = useMutation({
    async mutationFn() {
      const { to, zone, by, group, agent, key, user } = search
      const [from] = rangeOf(search, zone, new Date())
      const response = await client.usage.csv({
        from: from.toISOString(),
        timezone: zone,
        granularity: by,
        group_by: groupsOf(group),
        ...(to !== undefined && { to }),
        ...(agent !== undefined && { agent }),
        ...(key !== undefined && { key_id: key }),
        ...(user !== undefined && { user_id: user }),
      })
      saveAs(await response.blob(), 'usage.csv')
    },
  })
  return (
    <>
      {save.isError && <ErrorNotice error={save.error} />}
      <Button onClick={() => save.mutate()} isBusy={save.isPending}>
        <Download aria-hidden />
        {t('csv')}
      </Button>
    </>
  )
}

function saveAs(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
