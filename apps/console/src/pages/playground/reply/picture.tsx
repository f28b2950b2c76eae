import { useTranslations } from 'use-intl'
import styles from './picture.module.css'

/** A picture of this gateway, which opens by itself when it is clicked. */
export function Picture({ url, name }: { readonly url: string; readonly name: string }) {
  const t = useTranslations('playground')
  return (
    <a className={styles.picture} href={url} target="_blank" rel="noopener noreferrer">
      <img src={url} alt={name || t('picture')} />
    </a>
  )
}
