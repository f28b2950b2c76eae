import { Check, Copy as CopyIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button, IconButton } from '../button.tsx'
import styles from './copy.module.css'

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  readonly look?: 'plain' | 'quiet'
}

/** Copies a text and says so for a moment. With `label` it is a button with words. */
export function CopyButton({ text, label, look = 'plain' }: CopyButtonProps) {
  const t = useTranslations('common')
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const icon = isCopied ? <Check aria-hidden /> : <CopyIcon aria-hidden />
  const copy = async () => {
    await copyText(text)
    setCopied(true)
  }
  if (label === undefined)
    return (
      <IconButton label={t(isCopied ? 'copied' : 'copy')} onClick={copy}>
        {icon}
      </IconButton>
    )
  return (
    <Button look={look} onClick={copy}>
      {icon}
      {isCopied ? t('copied') : label}
    </Button>
  )
}

/** The clipboard of browsers exists only on HTTPS and on this machine; a gateway in a local network may have neither. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  // Inside of an open dialog, which keeps the focus.
  const host = document.querySelector('[role=dialog]') ?? document.body
  host.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** Code to be pasted somewhere, with a button that copies it. */
export function Snippet({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <div className={styles.snippet}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a box only if it can have the focus. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a region would be a landmark, and a page may have many snippets of one name. */}
      <div role="group" aria-label={label} tabIndex={0}>
        <pre>
          <code>{code}</code>
        </pre>
      </div>
      <CopyButton text={code} />
    </div>
  )
}
