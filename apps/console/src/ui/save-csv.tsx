import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { Button } from './button.tsx'
import { ErrorNotice } from './notice.tsx'

interface SaveCsvProps {
  /** The name of the file. */
  readonly name: string
  /** Reads the file as the gateway writes it. */
  read(): Promise<Response>
}

/** Saves what a page shows as CSV: all rows, not only those that were loaded. */
export function SaveCsv({ name, read }: SaveCsvProps) {
  const t = useTranslations('common')
  const save = useMutation({
    async mutationFn() {
      saveAs(await (await read()).blob(), name)
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
